import { buildCommand } from './build-command.ts';
import type { Command } from './command.ts';
import { knowledgeCompletenessCommand } from './completeness-command.ts';
import { demoCommand } from './demo-command.ts';
import { deviceCheckCommand } from './device-check-command.ts';
import { doctorCommand } from './doctor-command.ts';
import { evalAblationCommand } from './eval-command.ts';
import { evidenceCommand } from './evidence-command.ts';
import { generateCommand } from './generate-command.ts';
import { judgeCommand } from './judge-command.ts';
import { coverageCommand } from './knowledge/coverage-command.ts';
import { diffCommand } from './knowledge/diff-command.ts';
import { explainCommand } from './knowledge/explain-command.ts';
import { graphCommand } from './knowledge/graph-command.ts';
import { newCommand } from './knowledge/new-command.ts';
import { knowledgeCheckCommand } from './knowledge-command.ts';
import { learnCommand } from './learn-command.ts';
import { oracleCommand } from './oracle-command.ts';
import { planCommand } from './plan-command.ts';
import { requestCommand } from './request-command.ts';
import { runCommand } from './run-command.ts';
import { sabotageCommand } from './sabotage-command.ts';
import { serveCommand } from './serve-command.ts';
import { setupCommand } from './setup-command.ts';
import { benchCommand, verifyCommand } from './verify-command.ts';
import { weightsSynthCommand } from './weights-command.ts';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  buildCommand,
  planCommand,
  generateCommand,
  verifyCommand,
  benchCommand,
  runCommand,
  judgeCommand,
  weightsSynthCommand,
  oracleCommand,
  knowledgeCheckCommand,
  knowledgeCompletenessCommand,
  coverageCommand,
  graphCommand,
  explainCommand,
  diffCommand,
  newCommand,
  sabotageCommand,
  evidenceCommand,
  learnCommand,
  evalAblationCommand,
  requestCommand,
  doctorCommand,
  deviceCheckCommand,
  demoCommand,
  setupCommand,
  serveCommand,
];
