/** Words of OpenAPI that mean nothing to a validator. */
const noise = new Set([
  'description',
  'example',
  'examples',
  'title',
  'externalDocs',
  'deprecated',
  'discriminator',
  'default',
  'readOnly',
]);

/**
 * An OpenAPI 3.0 schema as JSON Schema 2020-12: `nullable` becomes a type, prose goes. Works on any tree that holds
 * schemas; names of properties are left alone.
 */
export function toJsonSchema(node: unknown, areNames = false): unknown {
  if (Array.isArray(node)) return node.map((item) => toJsonSchema(item));
  if (typeof node !== 'object' || node === null) return node;
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (!areNames && (noise.has(key) || key.startsWith('x-') || key === 'nullable')) continue;
    rest[key] = key === 'enum' && !areNames ? value : toJsonSchema(value, key === 'properties' && !areNames);
  }
  const isNullable = !areNames && 'nullable' in node && node.nullable === true;
  return isNullable ? allowNull(rest) : rest;
}

function allowNull(schema: Readonly<Record<string, unknown>>): unknown {
  if (typeof schema.type !== 'string' || 'oneOf' in schema || 'anyOf' in schema || 'allOf' in schema) {
    return { anyOf: [schema, { type: 'null' }] };
  }
  const { enum: values } = schema;
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
