import type { Catalog } from '../../model/catalog.ts';
import type { ExampleRequest, KeptReport } from '../../model/coverage.ts';

/** Knowledge together with the runs that speak for it. */
export interface KnowledgeView {
  readonly catalog: Catalog;
  readonly reports: readonly KeptReport[];
  readonly examples: readonly ExampleRequest[];
}
