import type { Label } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { isTooLong, validationFailed } from './request-body.ts';
import type { Repository, World } from './world.ts';

/** The repository's label of that name (case does not count); made in grey where there is none. */
export function ensureLabel(world: World, repository: Repository, name: string): Label {
  const known = repository.labels.get(name.toLowerCase());
  return known ?? addLabel(world, repository, { name, color: 'ededed', description: null });
}

/** @throws GitHubError 422 for names that GitHub doesn't take */
export function addLabel(
  world: World,
  repository: Repository,
  from: { readonly name: string; readonly color: string; readonly description: string | null },
): Label {
  const { name } = from;
  if (name.trim() === '') throw validationFailed({ resource: 'Label', code: 'missing_field', field: 'name' });
  if (isTooLong(name, 50)) {
    const message = 'name is too long (maximum is 50 characters)';
    throw validationFailed({ resource: 'Label', code: 'custom', field: 'name', message });
  }
  const id = world.nextId();
  const label: Label = { id, nodeId: nodeId('LA', id), ...from };
  repository.labels.set(name.toLowerCase(), label);
  return label;
}
