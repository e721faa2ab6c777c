import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Skill } from '../../common/domain/skill.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { inverseRowFrequency, scoreBm25 } from '../../common/ranking/bm25.ts';
import type { Skills } from '../../common/records/ingest/skills.ts';
import { tokenize, tokenizeQuery } from '../../common/text/language/tokenize.ts';
import type { FoundSkill, SkillSummary } from '../model.ts';

/** Full-text index of the active skills of datasets. */
export type SkillIndex = ReturnType<typeof createSkillIndex>;

/** Maximum skills cached in a process, over all datasets. */
const MAX_CACHED = 10_000;
/** Characters of a procedure that are indexed. */
const PROCEDURE_LENGTH = 2000;

/** Saturation of BM25; the score of a term stays below its weight times (K1 + 1). */
const K1 = 1.2;

interface Row {
  readonly skill: SkillSummary;
  /** Hash of the indexed text, to detect changes. */
  readonly words: string;
  /** Number of tokens. */
  readonly length: number;
}

/** Flat lists of pairs: row position and frequency of the token. */
type Postings = ReadonlyMap<string, readonly number[]>;

interface Catalog {
  readonly revision: string;
  /** Sorted by name. */
  readonly rows: readonly Row[];
  readonly postings: Postings;
  readonly averageLength: number;
}

/**
 * Creates a BM25 index over all skills of a dataset in memory (a few thousand at most). Each search reads the revision of
 * the dataset's skills, so that every replica sees a change once it is stored. Only changed skills are tokenised again, in
 * batches, so that other requests are served meanwhile.
 */
export function createSkillIndex(skills: Pick<Skills, 'shelf' | 'active' | 'get'>) {
  const catalogs = new Map<string, Promise<Catalog>>();
  const remember = async (key: string, catalog: Promise<Catalog>) => {
    catalogs.delete(key);
    catalogs.set(key, catalog);
    await catalog.catch(() => catalogs.delete(key));
    await dropOldest(catalogs);
  };
  return {
    /** Returns all skills, nearest first; those without a common word follow by name. */
    async find(scope: DatasetScope, query: string) {
      const key = `${scope.tenant}/${scope.dataset}`;
      const current = await skills.shelf(scope);
      if (current === null) return [];
      const known = (await catalogs.get(key)?.catch(() => null)) ?? null;
      if (known?.revision === current.revision) return rank(known, query);
      const read = catalogOf(current.revision, skills.active(scope), known);
      await remember(key, read);
      return rank(await read, query);
    },
    /** Returns the procedure of a skill; null when it was removed or deactivated. */
    async procedure(scope: DatasetScope, id: string) {
      const skill = (await skills.get(scope, id))?.skill;
      return skill?.isActive ? skill.procedure : null;
    },
  };
}

async function dropOldest(catalogs: Map<string, Promise<Catalog>>): Promise<void> {
  const sizes = await Promise.all(
    [...catalogs].map(async ([key, catalog]) => [key, (await catalog.catch(() => null))?.rows.length ?? 0] as const),
  );
  let total = sizes.reduce((sum, [, size]) => sum + size, 0);
  for (const [key, size] of sizes.slice(0, -1)) {
    if (total <= MAX_CACHED) return;
    catalogs.delete(key);
    total -= size;
  }
}

/** Skills tokenised in one turn of the event loop. */
const BATCH = 50;

async function catalogOf(
  revision: string,
  pages: AsyncIterable<readonly Skill[]>,
  before: Catalog | null,
): Promise<Catalog> {
  const known = new Map((before?.rows ?? []).map((row, at) => [row.skill.id, { ...row, at }]));
  const rows: Row[] = [];
  const postings = new Map<string, number[]>();
  const add = (token: string, at: number, count: number) => {
    const posting = postings.get(token);
    if (posting === undefined) postings.set(token, [at, count]);
    else posting.push(at, count);
  };
  /** Old row position to new one, of unchanged skills. */
  const moved = new Map<number, number>();
  let read = 0;
  for await (const page of pages) {
    for (const { procedure, ...skill } of page) {
      const text = wordsOf(skill, procedure);
      const words = sha256(text);
      const same = known.get(skill.id);
      const at = rows.length;
      if (same?.words === words) {
        moved.set(same.at, at);
        rows.push({ skill, words, length: same.length });
        continue;
      }
      const { length, counts } = countsOf(text);
      rows.push({ skill, words, length });
      for (const [token, count] of counts) add(token, at, count);
      read += 1;
      if (read % BATCH === 0) await yieldTurn();
    }
  }
  for (const [token, posting] of before?.postings ?? []) {
    for (const [was, count] of pairsOf(posting)) {
      const at = moved.get(was);
      if (at !== undefined) add(token, at, count);
    }
  }
  const total = rows.reduce((sum, { length }) => sum + length, 0);
  return { revision, rows, postings, averageLength: rows.length === 0 ? 0 : total / rows.length };
}

function* pairsOf(posting: readonly number[]): Generator<readonly [number, number]> {
  for (let index = 0; index < posting.length; index += 2) yield [posting[index] ?? 0, posting[index + 1] ?? 0];
}

function countsOf(text: string) {
  const tokens = tokenize(text);
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return { length: tokens.length, counts };
}

/** Returns the indexed text: the name counts most, then the description. */
function wordsOf({ name, description, tags, declaredTools }: SkillSummary, procedure: string): string {
  const lines = [name, name, name, description, description, tags.join(' '), declaredTools.join(' ')];
  return [...lines, procedure.slice(0, PROCEDURE_LENGTH)].join('\n');
}

function rank({ rows, postings, averageLength }: Catalog, query: string): readonly FoundSkill[] {
  const terms = tokenizeQuery(query);
  const rowFrequencies = terms.map((term) => (postings.get(term)?.length ?? 0) / 2);
  const frequencies = new Map<number, number[]>();
  for (const [term, word] of terms.entries()) {
    for (const [at, count] of pairsOf(postings.get(word) ?? [])) {
      const own = frequencies.get(at) ?? new Array<number>(terms.length).fill(0);
      own[term] = count;
      frequencies.set(at, own);
    }
  }
  const candidates = rows.flatMap(({ skill, length }, at) => {
    const own = frequencies.get(at);
    return own === undefined ? [] : [{ id: skill.id, item: '', generation: 0, skill, length, frequencies: own }];
  });
  const statistics = { rowCount: rows.length, averageLength, rowFrequencies };
  const most = rowFrequencies.reduce((sum, count) => sum + inverseRowFrequency(rows.length, count) * (K1 + 1), 0);
  const fitting = scoreBm25({ candidates, statistics }, { k1: K1 })
    .map(({ row, score }): FoundSkill => ({ skill: row.skill, distance: 1 - score / most }))
    .toSorted((a, b) => a.distance - b.distance || compareNames(a.skill, b.skill));
  const others = rows.flatMap(({ skill }, at): FoundSkill[] => (frequencies.has(at) ? [] : [{ skill, distance: 1 }]));
  return [...fitting, ...others];
}

function compareNames(one: SkillSummary, other: SkillSummary): number {
  const [a, b] = [one.name.toLowerCase(), other.name.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
}
