import type { DataItem } from '../../common/domain/data-item.ts';
import { timeOfMetadata } from '../../common/domain/item-time.ts';
import { OWNER_NAME } from '../../common/domain/speaker.ts';
import { SPEAKER } from '../../common/text/statements/read-statement.ts';
import { readStatements } from '../../common/text/statements/read-text.ts';
import { type Statement, statementId, statementKey } from '../../common/text/statements/statement.ts';
import type { ResolvedEntities } from './document-entities.ts';
import type { ItemChunk } from './model.ts';

/** The item that makes statements, and their time when neither sentence nor metadata gives one. */
export interface StatedBy {
  readonly item: Pick<DataItem, 'id' | 'ownerId' | 'externalMetadata'>;
  readonly createdAt: string;
  /** Who says `I`; null or absent: nobody known. */
  readonly speaker?: string | null;
}

/** Reads the statements of an item: plain sentences about something that has one value at a time, in document order. */
export function itemStatements(
  { item, createdAt, speaker = null }: StatedBy,
  chunks: readonly Pick<ItemChunk, 'id' | 'text' | 'headings'>[],
  resolved: Pick<ResolvedEntities, 'entities'>,
): readonly Statement[] {
  const at = timeOfMetadata(item.externalMetadata) ?? createdAt;
  const fullNames = fullNamesOf(resolved);
  const found: Statement[] = [];
  for (const chunk of chunks) {
    for (const { text, asOf, since, subject, ...stated } of readStatements(chunk.text, chunk.headings)) {
      // A statement about the future does not hold yet.
      if ((asOf ?? '') > at || (since ?? '') > at) continue;
      const who = subject === SPEAKER ? speaker : subject;
      if (who === null) continue;
      const name = fullNames.get(who.toLowerCase()) ?? who;
      const isUser = /^(?:the )?user$/iu.test(who) || (subject === SPEAKER && who === OWNER_NAME);
      const key = statementKey(isUser ? `user ${item.ownerId}` : name, stated.predicate);
      const said = asOf ?? at;
      const place = { item: item.id, chunk: chunk.id, text };
      const times = { at: said, from: since ?? said };
      found.push({ id: statementId(place), key, subject: name, ...stated, ...place, ordinal: found.length, ...times });
    }
  }
  return found;
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
