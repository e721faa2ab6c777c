import type { DataItem } from '../../common/domain/data-item.ts';
import { readStatements } from '../../common/text/statements/read-text.ts';
import { type Statement, statementId, statementKey } from '../../common/text/statements/statement.ts';
import type { ResolvedEntities } from './document-entities.ts';
import type { ItemChunk } from './model.ts';

/** Metadata fields that may give the time of an item, as ISO times; the first one wins. */
const TIME_FIELDS = [
  'effective_date',
  'asserted_at',
  'occurred_at',
  'date',
  'timestamp',
  'published_at',
  'created_at',
] as const;

/** The item that makes statements, and their time when neither sentence nor metadata gives one. */
export interface StatedBy {
  readonly item: Pick<DataItem, 'id' | 'ownerId' | 'externalMetadata'>;
  readonly createdAt: string;
}

/** Reads the statements of an item: plain sentences about something that has one value at a time, in document order. */
export function itemStatements(
  { item, createdAt }: StatedBy,
  chunks: readonly Pick<ItemChunk, 'id' | 'text' | 'headings'>[],
  resolved: Pick<ResolvedEntities, 'entities'>,
): readonly Statement[] {
  const at = timeOf(item) ?? createdAt;
  const fullNames = fullNamesOf(resolved);
  const found: Statement[] = [];
  for (const chunk of chunks) {
    for (const { text, asOf, since, subject, ...stated } of readStatements(chunk.text, chunk.headings)) {
      // A statement about the future does not hold yet.
      if ((asOf ?? '') > at || (since ?? '') > at) continue;
      const name = fullNames.get(subject.toLowerCase()) ?? subject;
      const isUser = /^(?:the )?user$/iu.test(subject);
      const key = statementKey(isUser ? `user ${item.ownerId}` : name, stated.predicate);
      const said = asOf ?? at;
      const place = { item: item.id, chunk: chunk.id, text };
      const times = { at: said, from: since ?? said };
      found.push({ id: statementId(place), key, subject: name, ...stated, ...place, ordinal: found.length, ...times });
    }
  }
  return found;
}

function timeOf({ externalMetadata }: Pick<DataItem, 'externalMetadata'>): string | null {
  for (const field of TIME_FIELDS) {
    const value = externalMetadata[field];
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/u.test(value)) continue;
    const time = Date.parse(value);
    if (!Number.isNaN(time)) return new Date(time).toISOString();
  }
  return null;
}

/** Maps short names to the full name in this document; a short name of two entities is left out. */
function fullNamesOf({ entities }: Pick<ResolvedEntities, 'entities'>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const shared = new Set<string>();
  for (const { name, aliases, isKeyword } of entities) {
    if (isKeyword) continue;
    for (const spelling of aliases) {
      const lower = spelling.toLowerCase();
      if (names.has(lower)) shared.add(lower);
      names.set(lower, name);
    }
  }
  for (const lower of shared) names.delete(lower);
  return names;
}
