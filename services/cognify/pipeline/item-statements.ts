import type { DataItem } from '../../common/domain/data-item.ts';
import { readStatements } from '../../common/text/statements/read-text.ts';
import { type Statement, statementId, statementKey } from '../../common/text/statements/statement.ts';
import type { ResolvedEntities } from './document-entities.ts';
import type { ItemChunk } from './item-chunk.ts';

/** Where a client says when something was said; ISO times. */
const TIME_FIELDS = [
  'effective_date',
  'asserted_at',
  'occurred_at',
  'date',
  'timestamp',
  'published_at',
  'created_at',
] as const;

/** Whose statements they are, and when they were made unless they tell. */
export interface StatedBy {
  readonly item: Pick<DataItem, 'id' | 'ownerId' | 'externalMetadata'>;
  readonly createdAt: string;
}

/** What the sentences of an item say plainly of something that has one value at a time, in the order of the document. */
export function itemStatements(
  { item, createdAt }: StatedBy,
  chunks: readonly Pick<ItemChunk, 'id' | 'text' | 'headings'>[],
  resolved: Pick<ResolvedEntities, 'entities'>,
): readonly Statement[] {
  const at = timeOf(item) ?? createdAt;
  const fullNames = namesOf(resolved);
  const found: Statement[] = [];
  for (const chunk of chunks) {
    for (const { text, asOf, since, subject, ...stated } of readStatements(chunk.text, chunk.headings)) {
      // What is said of a time to come does not hold yet.
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

/** Short names to the full one that they stand for in this document; names that two share stand for themselves. */
function namesOf({ entities }: Pick<ResolvedEntities, 'entities'>): ReadonlyMap<string, string> {
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
