import { AppError } from '../model/errors.ts';
import { formatProblem } from '../model/problem.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { type Request, readConstraintFile, readRequest } from '../preparation/read-request.ts';
import { type Command, type CommandContext, type CommandInput, optionText } from './command.ts';

const publicApi = 'https://api.github.com';

export const requestCommand: Command = {
  name: 'request',
  summary: 'Open an issue that asks the bot for an engine',
  positionals: ['<file>'],
  options: {
    repo: { type: 'string', value: 'OWNER/NAME', help: 'where the app is installed (required)' },
    url: {
      type: 'string',
      value: 'URL',
      help: `REST API of another GitHub, as https://HOST/api/v3 (${publicApi})`,
    },
  },
  examples: ['npx metainfer request knowledge/examples/qwen3-0.6b.yaml --repo ada/engines'],
  async run(input, context) {
    // The file first: its problems need neither a repository nor a token.
    const request = await readFileForGithub(input.positionals[0]!, context);
    const target = readTarget(input);
    const token = requireToken(context);
    for (const warning of request.warnings) console.error(formatProblem(warning));
    const title = `Engine: ${request.constraints.name}`;
    // Loaded here: every other command starts without Octokit.
    const { openIssue } = await import('../adapters/github/open-issue.ts');
    const url = await openIssue({ ...target, token, title, body: renderIssueBody(request.text) });
    return { exitCode: 0, data: { url }, text: url };
  },
};

/** Every problem is told here, by the rules that hold for files that come through GitHub, before anything is sent. */
async function readFileForGithub(path: string, context: CommandContext): Promise<Request> {
  const text = await readConstraintFile(path);
  const catalog = await openKnowledge(context.config.cacheFolder);
  return readRequest(text, {
    fileName: path,
    origin: 'github',
    weightsRoot: undefined,
    isElsewhere: true,
    catalog,
  });
}

/** A fence longer than any in the file, so that nothing in it can end the block. */
export function renderIssueBody(text: string): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return `${fence}yaml\n${text.replace(/\s+$/, '')}\n${fence}\n`;
}

function readTarget(input: CommandInput): { owner: string; name: string; apiUrl: string } {
  const written = optionText(input, 'repo');
  if (written === undefined) {
    throw new AppError('USAGE', 'Say where to open the issue: --repo OWNER/NAME.');
  }
  const [, owner, name] = /^([A-Za-z0-9][A-Za-z0-9-]{0,38})\/([A-Za-z0-9._-]{1,100})$/.exec(written) ?? [];
  if (owner === undefined || name === undefined) {
    throw new AppError('USAGE', `--repo is "${written}"; expected OWNER/NAME, as in ada/engines.`);
  }
  return { owner, name, apiUrl: readApiUrl(optionText(input, 'url') ?? publicApi) };
}

/** A token must not travel in the clear, unless it stays on this machine. */
function readApiUrl(written: string): string {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere)) return written.replace(/\/+$/, '');
  throw new AppError(
    'USAGE',
    `--url is "${written}"; expected an https address such as https://github.example.com/api/v3 (http only on this machine).`,
  );
}

function requireToken({ config }: CommandContext): string {
  if (config.githubToken !== undefined) return config.githubToken;
  throw new AppError(
    'USAGE',
    'Set METAINFER_GITHUB_TOKEN (or GITHUB_TOKEN) to a token of yours that may open issues there; with the GitHub command line: export GITHUB_TOKEN=$(gh auth token).',
  );
}
