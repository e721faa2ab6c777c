import { inverseRowFrequency, scoreBm25 } from '../../common/domain/ranking/bm25.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import type { Skill } from '../../common/domain/skill.ts';
import { tokenize, tokenizeQuery } from '../../common/language/tokenize.ts';
import type { Skills } from '../../common/repositories/skills.ts';

export interface FoundSkill {
  readonly skill: Skill;
  /** 0 to 1, smaller is nearer: 1 minus BM25's share of what the query could reach at most; 1: no word in common. */
  readonly distance: number;
}

/** The active skills of datasets, found by their words. */
export interface SkillIndex {
  /** Nearest first; those without a common word follow by name. A query without words gives them all by name. */
  find(scope: DatasetScope, query: string): Promise<readonly FoundSkill[]>;
}

/** Skills remembered by a process, of whatever datasets. */
const MAX_REMEMBERED = 20_000;
/** What a procedure begins with says what it is for. */
const PROCEDURE_LENGTH = 2000;
/** BM25's saturation; the score of a term never reaches its weight times this plus one. */
const K1 = 1.2;

interface Row {
  readonly id: string;
  readonly item: string;
  readonly generation: number;
  readonly skill: Skill;
  readonly length: number;
  readonly counts: ReadonlyMap<string, number>;
}

interface Shelf {
  readonly revision: string;
  readonly rows: readonly Row[];
  readonly averageLength: number;
}

/**
 * BM25 over all skills of a dataset in memory: a dataset holds a few thousand at most. One small read tells whether what is
 * remembered still holds, so every replica sees a change as soon as it is stored.
 */
export function createSkillIndex(skills: Pick<Skills, 'shelf' | 'active'>): SkillIndex {
  const shelves = new Map<string, Promise<Shelf>>();
  const keep = async (key: string, shelf: Promise<Shelf>) => {
    shelves.delete(key);
    shelves.set(key, shelf);
    await shelf.catch(() => shelves.delete(key));
    await dropOldest(shelves);
  };
  return {
    async find(scope, query) {
      const key = `${scope.tenant}/${scope.dataset}`;
      const current = await skills.shelf(scope);
      if (current === null) return [];
      const known = await shelves.get(key)?.catch(() => null);
      if (known?.revision === current.revision) return rank(known, query);
      const read = skills.active(scope).then((found) => shelfOf(current.revision, found));
      await keep(key, read);
      return rank(await read, query);
    },
  };
}

async function dropOldest(shelves: Map<string, Promise<Shelf>>): Promise<void> {
  const sizes = await Promise.all(
    [...shelves].map(async ([key, shelf]) => [key, (await shelf.catch(() => null))?.rows.length ?? 0] as const),
  );
  let total = sizes.reduce((sum, [, size]) => sum + size, 0);
  for (const [key, size] of sizes.slice(0, -1)) {
    if (total <= MAX_REMEMBERED) return;
    shelves.delete(key);
    total -= size;
  }
}

function shelfOf(revision: string, skills: readonly Skill[]): Shelf {
  const rows = skills.map((skill): Row => {
    const tokens = tokenize(wordsOf(skill));
    const counts = new Map<string, number>();
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
    return { id: skill.id, item: '', generation: 0, skill, length: tokens.length, counts };
  });
  const total = rows.reduce((sum, { length }) => sum + length, 0);
  return { revision, rows, averageLength: rows.length === 0 ? 0 : total / rows.length };
}

/** What a skill is called counts more than how it is done. */
function wordsOf({ name, description, tags, declaredTools, procedure }: Skill): string {
  const lines = [name, name, name, description, description, tags.join(' '), declaredTools.join(' ')];
  return [...lines, procedure.slice(0, PROCEDURE_LENGTH)].join('\n');
}

function rank({ rows, averageLength }: Shelf, query: string): readonly FoundSkill[] {
  const terms = tokenizeQuery(query);
  const candidates = rows.map((row) => ({ ...row, frequencies: terms.map((term) => row.counts.get(term) ?? 0) }));
  const rowFrequencies = terms.map((_, term) => candidates.filter(({ frequencies }) => frequencies[term] !== 0).length);
  const statistics = { rowCount: rows.length, averageLength, rowFrequencies };
  const most = rowFrequencies.reduce((sum, count) => sum + inverseRowFrequency(rows.length, count) * (K1 + 1), 0);
  return scoreBm25({ candidates, statistics }, { k1: K1 })
    .map(({ row, score }) => ({ skill: row.skill, distance: most === 0 ? 1 : 1 - score / most }))
    .toSorted((a, b) => a.distance - b.distance || compareNames(a.skill, b.skill));
}

function compareNames(one: Skill, other: Skill): number {
  const [a, b] = [one.name.toLowerCase(), other.name.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
}
