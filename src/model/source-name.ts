import type { SelectedContract } from './catalog.ts';

/** The one source of a contract in an engine, beside its header: `.cu` where its realization is CUDA C++. */
export function sourceNameOf({
  contract,
  realization,
}: Pick<SelectedContract, 'contract'> & Partial<Pick<SelectedContract, 'realization'>>): string {
  const extension = realization?.file.endsWith('.cu') === true ? '.cu' : '.cpp';
  return contract.header.name.replace(/\.h$/, extension);
}
