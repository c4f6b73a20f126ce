import { z } from 'zod';

/**
 * What a device check found on a machine, as device_check.py writes it after every step: an unfinished report is valid
 * too. Nothing in it is taken at its word that can be worked out again from its samples.
 */

const figure = z.number().min(0);
const text = z.string().max(4000);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Flat = z.record(z.string().max(200), z.union([text, z.number(), z.boolean(), z.null()]));

/** As nvidia-smi tells it; null for what the card or a virtual machine does not tell. */
export const DeviceState = z.strictObject({
  name: text,
  driver: text,
  computeCapability: text,
  memoryMib: figure.nullable(),
  smClockMhz: figure.nullable(),
  memoryClockMhz: figure.nullable(),
  maxSmClockMhz: figure.nullable(),
  maxMemoryClockMhz: figure.nullable(),
  temperatureC: figure.nullable(),
  powerWatts: figure.nullable(),
  powerLimitWatts: figure.nullable(),
});
export type DeviceState = z.infer<typeof DeviceState>;

const DeviceCheck = z.strictObject({
  check: text,
  status: z.enum(['passed', 'failed', 'not-run']),
  reason: text.nullable(),
  findings: z.array(z.strictObject({ contract: text.nullable(), message: text, evidence: Flat })),
  figures: z.record(z.string().max(200), z.union([text, z.number(), z.boolean(), z.null(), DeviceState])),
});
export type DeviceCheck = z.infer<typeof DeviceCheck>;

export const deviceSteps = [
  'environment',
  'build',
  'gates',
  'ceilings',
  'speed',
  'units',
  'sanitizer',
  'torch',
  'summary',
] as const;

/** What an engine under test is asked, in this order; the GATES of device/gates.py. */
export const deviceGates = [
  'ledger',
  'trace',
  'logits',
  'edges',
  'equivalence',
  'text',
  'determinism',
] as const;

/** What a run is held to, in the order of its report; device/summary.py says the same. */
export const deviceRequirements = {
  largeShape: 'qwen3-8b',
  gates: { title: 'all gates green on the device', wanted: 0 },
  share: {
    title: 'share of the measured bandwidth in decode at qwen3-8b shapes, required',
    wanted: 0.6,
  },
  /** What is aimed at: a run that misses it is evidence all the same. */
  shareGoal: { title: 'share of the measured bandwidth in decode at qwen3-8b shapes, goal', wanted: 0.85 },
  torch: { title: 'no slower in decode than PyTorch', wanted: 1 },
} as const;

const DeviceStep = z.strictObject({
  step: z.enum(deviceSteps),
  /** The shape, for steps that every shape has. */
  subject: text.nullable(),
  /** pending and running: the run was ended before it, or during it. */
  status: z.enum([
    ...([
      'pending',
      'running',
      'passed',
      'failed',
      'timed-out',
      'interrupted',
      'skipped',
      'not-run',
    ] as const),
  ]),
  reason: text.nullable(),
  isEmulated: z.boolean(),
  seconds: figure,
  limitSeconds: figure,
  checks: z.array(DeviceCheck),
});
export type DeviceStep = z.infer<typeof DeviceStep>;

/** Measured in the same run. */
const DeviceCeilings = z.strictObject({
  /** Of a working set that no cache holds. */
  readBytesPerSecond: z.number().positive(),
  /** What is read and what is written both count. */
  copyBytesPerSecond: z.number().positive(),
  /** bf16 with f32 sums, of values that are nowhere in memory. */
  mmaFlopsPerSecond: z.number().positive(),
  /** PyTorch's product of two bf16 matrices of 8192 squared; null where there is no PyTorch. */
  matmulFlopsPerSecond: z.number().positive().nullable(),
  reads: z.array(
    z.strictObject({ workingSetBytes: z.number().positive(), bytesPerSecond: z.number().positive() }),
  ),
  gpuAfter: DeviceState.nullable(),
});
export type DeviceCeilings = z.infer<typeof DeviceCeilings>;

const DeviceSpeed = z.strictObject({
  shape: text,
  /** `engine`, or who was timed in turns: `engine, beside torch`, `torch, eager`, `torch, graph`. */
  runner: text,
  test: z.enum(['decode', 'prefill']),
  /** Positions in the cache when decoding begins, or tokens of the prompt. */
  size: z.int().min(0),
  samplesSeconds: z.array(z.number().positive()).min(1),
  medianSeconds: z.number().positive(),
  tokensPerSecond: z.number().positive(),
  /** Slowest less fastest, by the median. */
  spread: figure,
  /** That a decode step cannot avoid reading. */
  bytes: z.number().positive().nullable(),
  /** That a prefill cannot avoid. */
  flops: z.number().positive().nullable(),
  shareOfBandwidth: figure.nullable(),
  shareOfProducts: figure.nullable(),
  isEmulated: z.boolean(),
});
export type DeviceSpeed = z.infer<typeof DeviceSpeed>;

const DeviceRequirement = z.strictObject({
  requirement: text,
  status: z.enum(['met', 'missed', 'not-measured']),
  measured: z.number().nullable(),
  wanted: z.number().nullable(),
  note: text.nullable(),
});
export type DeviceRequirement = z.infer<typeof DeviceRequirement>;

export const DeviceReport = z.strictObject({
  schema: z.literal('metainfer/device-report/v1'),
  /** `sha256` is that of the bundle's manifest, which names the hash of every other file. */
  bundle: z.strictObject({
    sha256,
    createdAt: z.iso.datetime(),
    catalogSha256: sha256,
    seed: z.int().min(0),
  }),
  startedAt: z.iso.datetime(),
  seconds: figure,
  budgetSeconds: z.number().positive(),
  seed: z.int().min(0),
  /** False where the run was ended from outside. */
  isComplete: z.boolean(),
  /** Fake: host emulation in place of a device. It shows that arithmetic and control flow are right, and no speed. */
  device: z.strictObject({ isFake: z.boolean(), gpu: DeviceState.nullable() }),
  environment: Flat,
  steps: z.array(DeviceStep),
  ceilings: DeviceCeilings.nullable(),
  speeds: z.array(DeviceSpeed),
  requirements: z.array(DeviceRequirement),
});
export type DeviceReport = z.infer<typeof DeviceReport>;
