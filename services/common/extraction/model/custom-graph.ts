import type { ExtractedEntity, ExtractedRelation } from '../../ports/extractor.ts';

/** Field names that say what an object is called, first found wins. */
const NAME_FIELDS = ['name', 'title', 'label', 'id'];

/**
 * Reads an instance of a caller's graph model as a graph: every object with a name is a node of the type its schema
 * position tells, every field that leads from one such object to another is an edge named after the field.
 */
export function graphOfInstance(
  instance: unknown,
  rootType: string,
): {
  readonly entities: readonly ExtractedEntity[];
  readonly relations: readonly ExtractedRelation[];
} {
  const entities = new Map<string, ExtractedEntity>();
  const relations: ExtractedRelation[] = [];

  const visit = (value: unknown, type: string, owner: string | null, field: string): void => {
    if (Array.isArray(value)) {
      for (const entry of value) visit(entry, type, owner, field);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const record = value as Record<string, unknown>;
    const name = nameOf(record);
    if (name !== null) {
      const declared = typeof record['type'] === 'string' && record['type'].trim() !== '' ? record['type'] : type;
      const known = entities.get(name);
      entities.set(name, {
        name,
        type: declared,
        description: descriptionOf(record),
        aliases: [],
        mentions: (known?.mentions ?? 0) + 1,
      });
      if (owner !== null && owner !== name)
        relations.push({ source: owner, target: name, relation: field, evidence: '' });
    }
    for (const [key, child] of Object.entries(record)) visit(child, singular(key), name ?? owner, key);
  };

  visit(instance, rootType, null, '');
  return { entities: [...entities.values()], relations };
}

function nameOf(record: Record<string, unknown>): string | null {
  for (const field of NAME_FIELDS) {
    const value = record[field];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

/** The description, or the plain fields as `key: value`, so that what the model found stays findable. */
function descriptionOf(record: Record<string, unknown>): string {
  if (typeof record['description'] === 'string') return record['description'];
  return Object.entries(record)
    .filter(
      ([key, value]) =>
        !NAME_FIELDS.includes(key) && key !== 'type' && (typeof value === 'string' || typeof value === 'number'),
    )
    .map(([key, value]) => `${key}: ${String(value)}`)
    .join(', ');
}

/** `employees` → `Employee`: the type of the entries of a list field. */
function singular(field: string): string {
  const word = field.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
  return word.charAt(0).toUpperCase() + word.slice(1);
}
