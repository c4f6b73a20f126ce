type Node = Record<string, unknown>;

/**
 * Forbids properties that a schema does not name, so that an invented field shows. Objects that are parts of an
 * `allOf` stay open, since their siblings name the rest; so do errors: GitHub publishes them without the `status` that
 * it sends.
 */
export function closeObjects(document: unknown): unknown {
  const openReferences = new Set<unknown>();
  visit(document, (node) => {
    if (!Array.isArray(node.allOf)) return;
    for (const part of node.allOf as Node[]) openReferences.add(part.$ref ?? part);
  });
  const openNodes = new Set<unknown>();
  visit(document, (node, path) => {
    if (openReferences.has(node) || openReferences.has(`#${path}`)) openNodes.add(node);
  });
  visit(document, (node, path) => {
    if (path.endsWith('-error') || path.endsWith('-error-simple')) return;
    if (openNodes.has(node) || node.type === undefined || typeof node.properties !== 'object') return;
    if (![node.type].flat().includes('object') || 'additionalProperties' in node || 'allOf' in node) return;
    node.additionalProperties = false;
  });
  return document;
}

function visit(value: unknown, see: (node: Node, path: string) => void, path = ''): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, see, `${path}/${index}`);
  } else if (typeof value === 'object' && value !== null) {
    see(value as Node, path);
    for (const [key, item] of Object.entries(value)) visit(item, see, `${path}/${key}`);
  }
}
