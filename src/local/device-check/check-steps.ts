import {
  type DeviceCheck,
  type DeviceReport,
  type DeviceStep,
  deviceGates,
  deviceSteps,
} from '../../model/device-report.ts';
import { agree } from './agree.ts';
import { realTests } from './bundle-shapes.ts';

/** Steps of which no check is left out where they pass. */
const wholeSteps: readonly string[] = ['build', 'gates', 'ceilings', 'speed', 'units', 'summary'];
/** Seconds that are lost to rounding, and between steps. */
const rounding = 1;

/** What is wrong with the steps by themselves: each once, and none better than its checks. */
export function findStepsFaults(report: DeviceReport): string[] {
  const { steps, device, isComplete, seconds, ceilings } = report;
  const faults = [...findPlanFaults(steps), ...steps.flatMap((step) => findStepFaults(step))];
  if (!device.isFake) faults.push(...steps.flatMap((step) => findNameFaults(step, steps)));
  const unfinished = steps.filter(({ status }) => ['pending', 'running', 'interrupted'].includes(status));
  if (isComplete)
    faults.push(
      ...unfinished.map((step) => `${nameOf(step)}: it is ${step.status} in a run that is complete`),
    );
  const total = steps.reduce((sum, step) => sum + step.seconds, 0);
  if (total > seconds + rounding)
    faults.push(`seconds: the steps took ${total.toFixed(0)} s of ${seconds.toFixed(0)} s in all`);
  const ceilingStep = steps.find(({ step }) => step === 'ceilings');
  if (ceilingStep?.status === 'passed' && ceilings === null)
    faults.push('ceilings: the step is called passed, and there are none');
  if (ceilings !== null && ['pending', 'skipped', 'not-run'].includes(ceilingStep?.status ?? 'skipped'))
    faults.push('ceilings: they stand there, and were not measured');
  return faults;
}

export function nameOf({ step, subject }: Pick<DeviceStep, 'step' | 'subject'>): string {
  return subject === null ? step : `${step} ${subject}`;
}

/** Every step stands in a report from the first moment on: once each, the speed of each shape. */
function findPlanFaults(steps: readonly DeviceStep[]): string[] {
  const faults = [];
  const names = steps.map(nameOf);
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  faults.push(...[...new Set(repeated)].map((name) => `steps: ${name} stands there more than once`));
  const missing = deviceSteps.filter((name) => !steps.some(({ step }) => step === name));
  faults.push(...missing.map((name) => `steps: ${name} is missing`));
  const wrong = steps.filter(({ step, subject }) => (step === 'speed') !== (subject !== null));
  faults.push(...wrong.map((step) => `steps: ${nameOf(step)} is not of what it should be`));
  const places = steps.map(({ step }) => deviceSteps.indexOf(step));
  if (faults.length === 0 && places.some((place, index) => index > 0 && place < places[index - 1]!))
    faults.push('steps: they are in another order than they run');
  return faults;
}

function findStepFaults(entry: DeviceStep): string[] {
  const { step, status, reason, checks } = entry;
  const name = nameOf(entry);
  const faults = checks.flatMap((check) => findCheckFaults(name, check));
  const silent = ['timed-out', 'interrupted', 'skipped', 'not-run'].includes(status) && !reason;
  if (silent && !(status === 'not-run' && checks.length > 0))
    faults.push(`${name}: it was ${status}, and no reason is given`);
  const has = (wanted: string) => checks.some((check) => check.status === wanted);
  if (status === 'passed' && (has('failed') || !has('passed')))
    faults.push(`${name}: it is called passed, and its checks did not all pass`);
  if (status === 'passed' && wholeSteps.includes(step) && has('not-run'))
    faults.push(`${name}: it is called passed, and a check was not run`);
  if (status === 'failed' && !has('failed'))
    faults.push(`${name}: it is called failed without a failed check`);
  if (status === 'not-run' && (has('passed') || has('failed')))
    faults.push(`${name}: it has checks and is called not-run`);
  if (['pending', 'skipped'].includes(status) && checks.length > 0)
    faults.push(`${name}: it has checks and is called ${status}`);
  const names = checks.map(({ check }) => check);
  const repeated = names.find((check, index) => names.indexOf(check) !== index);
  if (repeated !== undefined) faults.push(`${name}: ${repeated} stands there more than once`);
  const gates = names.join(', ');
  if (step === 'gates' && status === 'passed' && gates !== deviceGates.join(', '))
    faults.push(`${name}: it is called passed with ${gates} instead of ${deviceGates.join(', ')}`);
  return faults;
}

function findCheckFaults(name: string, { check, status, findings, reason }: DeviceCheck): string[] {
  const faults = [];
  if ((status === 'failed') !== findings.length > 0)
    faults.push(`${name}: ${check} is ${status} with ${findings.length} findings`);
  if (status === 'not-run' && !reason) faults.push(`${name}: ${check} was not run, and no reason is given`);
  return faults;
}

/** Of a run on a device: what a passed step has checked. */
function findNameFaults(entry: DeviceStep, steps: readonly DeviceStep[]): string[] {
  if (entry.status !== 'passed') return [];
  const expected = checkNames(entry.step);
  const names = entry.checks.map(({ check }) => check);
  if (entry.step === 'build') {
    const engines = names.filter((name) => name.startsWith('engines/')).length;
    const wanted = 1 + steps.filter(({ step }) => step === 'speed').length;
    const rest = names.filter((name) => !name.startsWith('engines/')).join(', ');
    if (engines !== wanted || rest !== 'synthesize.cpp, ceilings.cu')
      return [
        `build: it is called passed with ${names.join(', ')} instead of ${wanted} engines and two tools`,
      ];
  }
  if (expected === undefined || names.join(', ') === expected.join(', ')) return [];
  return [`${nameOf(entry)}: it is called passed with ${names.join(', ')} instead of ${expected.join(', ')}`];
}

function checkNames(step: DeviceStep['step']): readonly string[] | undefined {
  if (step === 'environment') return ['device', 'nvcc'];
  if (step === 'ceilings') return ['ceilings'];
  if (step === 'summary') return ['requirements'];
  if (step !== 'speed') return undefined;
  const decodes = realTests.decodeDepths.map((depth) => `decode ${depth}`);
  return [
    'weights',
    ...decodes,
    ...realTests.prefillTokens.map((tokens) => `prefill ${tokens}`),
    'equivalence',
  ];
}

/** The lines of a passed speed step are its checks, and fit into its time. */
export function findLineFaults({ steps, speeds, device }: DeviceReport): string[] {
  if (device.isFake) return [];
  const timed = speeds.filter(({ runner }) => runner === 'engine');
  const faults = timed
    .filter(({ shape }) => !steps.some((entry) => entry.subject === shape && entry.checks.length > 0))
    .map(({ shape, test, size }) => `${shape} ${test} ${size} (engine): its step has not run`);
  const torchStep = steps.find(({ step }) => step === 'torch');
  if (speeds.length > timed.length && (torchStep?.checks.length ?? 0) === 0)
    faults.push('speeds: figures beside PyTorch, and its step has not run');
  for (const entry of steps.filter(({ step, status }) => step === 'speed' && status === 'passed')) {
    const lines = timed.filter(({ shape }) => shape === entry.subject);
    for (const { check, figures } of entry.checks.filter(({ check }) => /^(?:decode|prefill) /.test(check))) {
      const line = lines.find(({ test, size }) => check === `${test} ${size}`);
      const written = figures.tokensPerSecond;
      if (line === undefined) faults.push(`${nameOf(entry)}: ${check} passed, and no line shows it`);
      else if (typeof written !== 'number' || !agree(written, line.tokensPerSecond))
        faults.push(`${nameOf(entry)}: ${check} does not have the tokens per second of its line`);
    }
    const total = lines
      .flatMap(({ test, samplesSeconds }) =>
        samplesSeconds.map((seconds) => seconds * (test === 'decode' ? realTests.decodeSteps : 1)),
      )
      .reduce((sum, seconds) => sum + seconds, 0);
    if (total > entry.seconds + rounding)
      faults.push(
        `${nameOf(entry)}: its samples took ${total.toFixed(0)} s of ${entry.seconds.toFixed(0)} s`,
      );
  }
  return faults;
}
