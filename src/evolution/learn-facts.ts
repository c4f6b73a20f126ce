import { Benchmark } from '../model/benchmark.ts';
import { codeSpan, inlineText } from '../model/escape-text.ts';
import { keepReport } from '../model/evidence-entry.ts';
import type { Learnt, Lesson } from '../model/lesson.ts';
import { readModelConfig } from '../model/model-config.ts';
import type { MeasuredDevice } from '../model/platform-facts.ts';
import type { Report } from '../model/report.ts';
import { commitText } from './commit-text.ts';

/** What a passed run showed of a model and of a device that knowledge did not list. */
export function learnFacts(learnt: Learnt): {
  readonly lessons: readonly Lesson[];
  readonly notes: readonly string[];
} {
  const { report } = learnt;
  if (report?.verdict !== 'passed') return { lessons: [], notes: [] };
  const model = learnModel(learnt);
  const device = learnDevice(learnt, report);
  return {
    lessons: [model, device].filter((lesson): lesson is Lesson => typeof lesson === 'object'),
    notes: [model, device].filter((note): note is string => typeof note === 'string'),
  };
}

/** A model that was given by its config.json alone: an entry, a reason why not, or nothing where it is known. */
function learnModel(learnt: Learnt): Lesson | string | undefined {
  const { constraints, catalog, facts } = learnt;
  if (!('config' in constraints.model)) return undefined;
  const family = catalog.families.find((known) => known.family === facts.family);
  if (family === undefined)
    return `knowledge/models has no file for ${facts.family}: the model is not listed`;
  const config = Object.fromEntries(
    Object.entries(learnt.modelConfig).filter(([key]) => Object.hasOwn(family.configKeys, key)),
  );
  const meaning = JSON.stringify(facts);
  if (JSON.stringify(readModelConfig(config, undefined).facts) !== meaning)
    return `config.json has keys that models/${facts.family}.yaml does not explain: the model is not listed`;
  const known = catalog.models.find(
    ({ config: other, generationConfig }) =>
      JSON.stringify(readModelConfig(other, generationConfig).facts) === meaning,
  );
  if (known !== undefined) return undefined;
  const id = `inline/${constraints.name}`;
  if (catalog.models.some((other) => other.id === id)) return `another model is called ${id} already`;
  const source = `config.json in the constraint file of run ${learnt.run.id} (${learnt.run.engine}); no published checkpoint was seen`;
  return {
    kind: 'model-fact',
    contract: null,
    key: `model ${meaning}`,
    title: `models/${facts.family}.yaml: ${id}`,
    says: `A ${codeSpan(facts.family)} model that was given by its ${codeSpan('config.json')} alone and whose engine passed: it can be named ${codeSpan(id)} from now on. Nothing is known of its tokenizer.`,
    commit: commitText(`knowledge(models): list ${id}`, learnt),
    run: learnt.run.id,
    edits: [
      {
        kind: 'add-model',
        path: `models/${facts.family}.yaml`,
        entry: {
          ...{ id, source, config, generation_config: {} },
          tokenizer: {
            model: 'none',
            pre_tokenizer: 'none',
            normalizer: 'none',
            source: 'not given: ids in, ids out',
          },
        },
      },
    ],
  };
}

function learnDevice(learnt: Learnt, report: Report): Lesson | undefined {
  const { platform: id, threads } = learnt.constraints.hardware;
  const platform = learnt.catalog.platforms.find((known) => known.id === id);
  const kept = keepReport(report);
  const entry = measuredDevice(report, threads, kept.sha256);
  if (platform === undefined || entry === undefined) return undefined;
  const isKnown = platform.measured?.some(
    (other) => other.device === entry.device && other.threads === entry.threads,
  );
  if (isKnown === true) return undefined;
  const rates = `${entry.read_gb_per_s} GB/s read from memory, ${entry.gflops} GFLOP/s`;
  return {
    kind: 'platform-fact',
    contract: null,
    key: `device ${id} ${entry.device} ${threads}`,
    title: `platforms/${id}.yaml: ${entry.device}, ${threads} threads`,
    says: `Rates of ${inlineText(entry.device)} with ${threads} threads, measured by the harness and not by the engine: ${rates}.`,
    commit: commitText(`knowledge(platforms): record the rates of ${entry.device}`, learnt, undefined, [
      `Measured: ${rates}, ${threads} threads; report ${entry.report}`,
    ]),
    run: learnt.run.id,
    edits: [
      { kind: 'create', path: kept.path, text: kept.text },
      { kind: 'add-measurement', path: `platforms/${id}.yaml`, entry },
    ],
  };
}

/** Of the harness's own program before and after the timed runs; undefined where it measured nothing. */
function measuredDevice(report: Report, threads: number, sha256: string): MeasuredDevice | undefined {
  const benchmark = Benchmark.safeParse(report.benchmark).data;
  const rates = [benchmark?.rates_before, benchmark?.rates_after].filter((each) => each != null);
  const reads = rates.flatMap(({ read }) => {
    const largest = [...read].sort((a, b) => b.working_set_bytes - a.working_set_bytes)[0];
    return largest === undefined ? [] : [largest.best_bytes_per_second];
  });
  const flops = Math.max(0, ...rates.map(({ best_flops_per_second: best }) => best));
  const bytes = Math.max(0, ...reads);
  if (bytes === 0 || flops === 0) return undefined;
  const gpu = report.environment.cuda?.device;
  return {
    device: (gpu?.name ?? report.environment.cpu).slice(0, 200),
    threads,
    read_gb_per_s: Number((bytes / 1e9).toPrecision(4)),
    gflops: Number((flops / 1e9).toPrecision(4)),
    report: `sha256:${sha256}`,
    date: report.startedAt.slice(0, 10),
  };
}
