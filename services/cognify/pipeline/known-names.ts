import { slug } from '../../common/kernel/ids.ts';
import type { ExtractedEntity, KnownName } from '../../common/ports/extractor.ts';
import { countIn, type NamedEntry, nameAndType } from './named-entry.ts';

/** Names that go along with a chunk: more cost more than they help. */
const KNOWN_NAMES = 200;

/** The names of a document that its next chunks are read with. */
export interface KnownNames {
  /** Chunks in document order. `subjects`: names the chunk is about by its headings. */
  add(entities: readonly ExtractedEntity[], subjects: readonly string[]): void;
  /** The fullest names met so far, most mentioned first. */
  list(): readonly KnownName[];
}

interface Entry extends NamedEntry {
  readonly ordinal: number;
  mentions: number;
}

export function createKnownNames(): KnownNames {
  const entries = new Map<string, Entry>();
  // Counts only grow: whatever is among the most mentioned now was so before or was mentioned since.
  let known: readonly Entry[] = [];
  const mentionedSince = new Set<Entry>();
  const entryAt = (key: string): Entry => {
    const entry = entries.get(key) ?? { ordinal: entries.size, spellings: new Map(), types: new Map(), mentions: 0 };
    entries.set(key, entry);
    return entry;
  };
  return {
    add(entities, subjects) {
      for (const { name, type, mentions } of entities) {
        const key = slug(name.trim());
        if (key === '') continue;
        const entry = entryAt(key);
        const count = Math.max(1, mentions);
        countIn(entry.spellings, name.trim(), count);
        countIn(entry.types, type, count);
        entry.mentions += count;
        mentionedSince.add(entry);
      }
      for (const subject of subjects) {
        const key = slug(subject);
        if (key === '') continue;
        const { spellings } = entryAt(key);
        if (spellings.size === 0) countIn(spellings, subject, 0);
      }
    },
    list() {
      known = [...new Set([...known, ...mentionedSince])]
        .sort((one, other) => other.mentions - one.mentions || one.ordinal - other.ordinal)
        .slice(0, KNOWN_NAMES);
      mentionedSince.clear();
      return known.map(nameAndType);
    },
  };
}
