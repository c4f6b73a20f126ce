import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { newContract, refuseContractId } from '../../knowledge/new-contract.ts';
import { AppError } from '../../model/errors.ts';
import { knowledgeRoot } from '../../preparation/knowledge-base.ts';
import { type Command, optionText } from '../command.ts';

/** Made by us and by nobody else: what is there already is somebody's work. @throws AppError OUTPUT_EXISTS or USAGE */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new AppError('OUTPUT_EXISTS', `${folder} exists already, and nothing of it was changed.`, {
        cause,
      });
    const hint = 'Name a knowledge folder, which holds contracts/, with --knowledge.';
    throw new AppError('USAGE', `${folder} cannot be made (${code}). ${hint}`, { cause });
  }
}

export const newCommand: Command = {
  name: 'knowledge new',
  summary: 'Write the skeleton of a contract, which says at each place what is to be written',
  positionals: ['<contract>'],
  options: {
    knowledge: { type: 'string', value: 'DIR', help: 'knowledge folder; default: the one of this program' },
  },
  examples: [
    'npx metainfer knowledge new mlp.experts',
    'npx metainfer knowledge new norm.layer --knowledge ./knowledge',
  ],
  async run(input) {
    const id = input.positionals[0]!;
    const refusal = refuseContractId(id);
    if (refusal !== undefined) throw new AppError('USAGE', refusal);
    const written = optionText(input, 'knowledge');
    const root = written === undefined ? knowledgeRoot() : resolve(written);
    const { folder, files } = newContract(id);
    const target = join(root, 'contracts', folder);
    await makeFolder(target);
    for (const [name, text] of files) await writeFile(join(target, name), text, { flag: 'wx' });
    const check = `npx metainfer knowledge check${written === undefined ? '' : ` ${written}`}`;
    const paths = [...files.keys()].map((name) => join(target, name));
    return {
      exitCode: 0,
      data: { contract: id, files: paths },
      text: [
        ...paths.map((path) => relative('.', path)),
        `Each <WRITE …> is a place to fill; \`${check}\` lists those that are left.`,
        'Then: a realization under realizations/, and a row in the table of knowledge/README.md.',
      ].join('\n'),
    };
  },
};
