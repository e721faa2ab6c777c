import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { IndexStores } from '../../common/storage/ports/dataset-indexes.ts';
import type { LaneName } from '../model.ts';
import { graphHits, type Neighbourhood, neighbourhood } from './bridge.ts';
import { CandidatePool } from './candidate-pool.ts';
import type { NamedEntity } from './candidates.ts';
import { Conversation } from './conversation.ts';
import { joinStores } from './joined-stores.ts';
import {
  byScore,
  denseHits,
  type LaneContext,
  type LaneHit,
  lexicalRows,
  namedEntities,
  runs,
  timeRows,
} from './lanes.ts';
import type { LearnedElements, LearnedReader } from './learned-weights.ts';
import { areOtherWords, likeHits } from './like-rows.ts';
import { analyseQuery } from './query-analysis.ts';
import { rankPassages } from './rank-passages.ts';
import type { Retrieval, Retriever } from './retrieval.ts';
import { DEFAULT_SETTINGS, type RetrievalSettings } from './settings.ts';
import { createVisibility } from './visibility.ts';

interface RetrieverDeps {
  readonly indexes: IndexStores;
  readonly ledger: Ledger;
  readonly settings?: RetrievalSettings;
  /** Absent: learned weights are not used. */
  readonly learned?: LearnedElements;
}

export function createRetriever(deps: RetrieverDeps): Retriever {
  const settings = deps.settings ?? DEFAULT_SETTINGS;
  return {
    async retrieve(request) {
      const stores = { ...deps, ...request.here };
      const joined = request.joined === undefined ? null : joinStores(stores, request.joined);
      const { indexes, ledger, learned: elements } = joined ?? stores;
      const context: LaneContext = {
        scope: request.scope,
        vectorVersion: request.vectorVersion ?? request.scope,
        analysis: analyseQuery(request.query, request.now === undefined ? {} : { now: request.now }),
        nodeSets: request.nodeSets,
        settings: widened(settings, request.limit),
        visibility: createVisibility(ledger, request.scope),
        ...indexes,
        signal: request.signal,
      };
      // Read concurrently with the lanes.
      const learned = request.influence && elements?.reader(request.scope, request.influence);
      const found = await retrieve(context, { vector: request.vector, limit: request.limit, learned });
      return joined === null ? found : { ...found, passages: found.passages.map(joined.withDataset) };
    },
  };
}

/** Maximum rows that an index returns at once. */
const INDEX_LIMIT = 1000;

/** Raises the limits of the lanes for callers that want more passages. */
function widened(settings: RetrievalSettings, limit: number): RetrievalSettings {
  const atLeast = (usual: number) => Math.min(INDEX_LIMIT, Math.max(usual, limit));
  return {
    ...settings,
    lexicalLimit: atLeast(settings.lexicalLimit),
    denseLimit: atLeast(settings.denseLimit),
    fetchLimit: atLeast(settings.fetchLimit),
    poolLimit: Math.max(settings.poolLimit, limit),
  };
}

interface Input {
  readonly vector: Float32Array | null;
  readonly limit: number;
  readonly learned: Promise<LearnedReader | null> | undefined;
}

/** Runs one query against one dataset: lanes, fusion, second hop, fusion again, ranking by evidence. */
async function retrieve(context: LaneContext, input: Input): Promise<Retrieval> {
  const { vector, limit } = input;
  const { settings } = context;
  const [lexical, dense, entities, dated, learned = null] = await Promise.all([
    lexicalRows(context),
    denseHits(context, vector),
    namedEntities(context),
    timeRows(context),
    input.learned,
  ]);
  const pool = new CandidatePool(context, { ...lexical, entities, dated });
  const lanes: readonly (readonly [LaneName, readonly LaneHit[]])[] = [
    ['lexical', runs(context, 'lexical') ? lexicalHits(pool) : []],
    ['dense', dense.flatMap(({ id, similarity }) => (similarity > 0 ? [{ id, score: similarity }] : []))],
    ['entity', entityHits(pool.named, settings)],
    // Within the time window, better matches of the query come first.
    ['time', dated.map(({ id }) => ({ id, score: 1 + (pool.candidates.get(id)?.lexicalScore ?? 0) }))],
  ];
  const like = await likeHits(context, { rows: lexical.rows, information: pool.information });
  // Of a small dataset, all passages are read for what they mean.
  const isSmall = lexical.statistics.rowCount <= settings.sentenceLimit;
  const isRead = isSmall && runs(context, 'meaning') && areOtherWords(lexical.rows, pool.information);
  const unlike = dense.flatMap(({ id, similarity }) => (isRead && similarity <= 0 ? [{ id, score: 0 }] : []));
  const meant = [...like, ...unlike.filter(({ id }) => !like.some((hit) => hit.id === id))];
  await pool.read(firstPlaces(pool, [...lanes, ['meaning', meant]], settings.fetchLimit + meant.length));
  for (const [name, hits] of lanes) pool.addLane(name, hits);
  pool.addLane('meaning', meant);
  for (const { id, shares } of like) pool.setMeaning(id, shares);
  for (const hit of dense) {
    const candidate = pool.candidates.get(hit.id);
    if (candidate !== undefined) candidate.similarity = hit.similarity;
  }
  if (runs(context, 'sentence') || runs(context, 'meaning')) await readSentences(context, pool);
  const conversation = await readConversation(context, pool);
  const seeds = pool.strongest(pool.fuse()).slice(0, settings.bridgeSeeds);
  const ids = seeds.map((seed) => seed.id);
  const around = await neighbourhood(context, ids, pool.named, lexical.statistics.rowCount);
  if (runs(context, 'graph')) {
    pool.addLane('graph', graphHits(around.edges, pool.named, seeds, settings.denseLimit));
  }
  // Turns share entities without completing each other.
  const links = conversation === null ? around.links : [];
  if (conversation === null) await pool.read(bestLinked(pool, around, seeds).slice(0, settings.linkedLimit));
  const { named, information } = pool;
  const found = { fusion: pool.fuse(), ...around, links, learned, conversation };
  const passages = await rankPassages(pool, found, settings, limit);
  const shown = new Set(passages.map(({ id }) => id));
  return {
    analysis: context.analysis,
    visibility: context.visibility,
    learned,
    information,
    named,
    mentions: around.mentions.filter(({ source }) => shown.has(source)),
    passages,
  };
}

function lexicalHits(pool: CandidatePool): readonly LaneHit[] {
  return [...pool.candidates.values()].map(({ row, lexicalScore }) => ({ id: row.id, score: lexicalScore }));
}

function entityHits(named: readonly NamedEntity[], settings: RetrievalSettings): readonly LaneHit[] {
  const scores = new Map<string, number>();
  for (const entity of named) {
    for (const [chunk, isSubject] of entity.chunks) {
      const score = entity.information * (isSubject ? settings.subjectWeight : settings.mentionWeight);
      scores.set(chunk, (scores.get(chunk) ?? 0) + score);
    }
  }
  return [...scores].map(([id, score]) => ({ id, score }));
}

/** Returns passages that lanes found outside the pool, by rank over all lanes. */
function firstPlaces(
  pool: CandidatePool,
  lanes: readonly (readonly [LaneName, readonly LaneHit[]])[],
  limit: number,
): readonly string[] {
  const sorted = lanes.map(([, hits]) => hits.toSorted(byScore));
  const missing = new Set<string>();
  const longest = Math.max(0, ...sorted.map((hits) => hits.length));
  for (let place = 0; place < longest && missing.size < limit; place++) {
    for (const hits of sorted) {
      const hit = hits[place];
      if (hit !== undefined && !pool.candidates.has(hit.id)) missing.add(hit.id);
    }
  }
  return [...missing];
}

/**
 * Adds the lanes that read the text of the strongest passages: a fact in one sentence, which the score of a long passage
 * would hide, and a sentence that says in other words what the query asks.
 */
async function readSentences(context: LaneContext, pool: CandidatePool): Promise<void> {
  const strongest = pool.strongest(pool.fuse()).slice(0, context.settings.sentenceLimit);
  await pool.readTexts(strongest.map(({ id }) => id));
  for (const lane of ['sentence', 'meaning'] as const) {
    if (!runs(context, lane)) continue;
    const hits = strongest.flatMap(({ id }) => {
      const candidate = pool.candidates.get(id);
      if (candidate === undefined) return [];
      const score = lane === 'sentence' ? pool.readSentences(candidate) : pool.readMeaning(candidate);
      return score > 0 ? [{ id, score }] : [];
    });
    pool.addLane(lane, hits);
  }
}

/** Reads further turns when the strongest passages are turns of a conversation; null when they are not. */
async function readConversation(context: LaneContext, pool: CandidatePool): Promise<Conversation | null> {
  const { settings } = context;
  const { text, terms } = context.analysis;
  const read = [...pool.candidates.values()].filter(({ payload }) => payload !== null);
  if (settings.windowShare === 0 || Conversation.of(read, text) === null) return null;
  await pool.readTexts([...pool.candidates.keys()]);
  const passages = [...pool.candidates.values()];
  if (runs(context, 'meaning')) for (const passage of passages) if (passage.meaning === null) pool.readMeaning(passage);
  const conversation = Conversation.of(passages, text);
  if (conversation !== null) pool.weigh(conversation.weightsOf(terms));
  return conversation;
}

/** Returns linked passages that no lane found, by the weight of the link and the score of its seed. */
function bestLinked(pool: CandidatePool, around: Neighbourhood, seeds: readonly LaneHit[]): readonly string[] {
  const scores = new Map(seeds.map((seed) => [seed.id, seed.score]));
  const worth = new Map<string, number>();
  for (const link of around.links) {
    if (pool.candidates.has(link.to)) continue;
    const value = link.weight * (scores.get(link.from) ?? 0);
    if (value > (worth.get(link.to) ?? 0)) worth.set(link.to, value);
  }
  return [...worth]
    .map(([id, score]) => ({ id, score }))
    .sort(byScore)
    .map(({ id }) => id);
}
