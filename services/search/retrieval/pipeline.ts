import { type ChunkPayload, chunkIndexText } from '../../common/domain/index-rows.ts';
import { inverseRowFrequency } from '../../common/domain/ranking/bm25.ts';
import { collapseNearDuplicates } from '../../common/domain/ranking/diversity.ts';
import { type EvidenceLink, rankEvidence } from '../../common/domain/ranking/evidence.ts';
import { type FusedItem, fuse } from '../../common/domain/ranking/rrf.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import { analyseQuery, type QueryAnalysis } from '../../common/language/query.ts';
import { sentences } from '../../common/language/sentences.ts';
import { tokenize } from '../../common/language/tokenize.ts';
import type { DatasetIndexes } from '../../common/ports/dataset-indexes.ts';
import type { EdgeEvidence } from '../../common/ports/graph-store.ts';
import type { TextCandidates, TextRow } from '../../common/ports/text-index.ts';
import type { Ledger } from '../../common/repositories/ledger.ts';
import { graphHits, type Neighbourhood, neighbourhood, type PassageLink } from './bridge.ts';
import {
  type Candidate,
  createCandidate,
  createTermScorer,
  createWordTokens,
  type NamedEntity,
  type TermScorer,
  type WordTokens,
} from './candidates.ts';
import { denseHits, type LaneContext, type LaneHit, lexicalRows, namedEntities, runs, timeRows } from './lanes.ts';
import { DEFAULT_SETTINGS, type LaneName, type RetrievalSettings } from './settings.ts';
import { createVisibility } from './visibility.ts';

export interface RetrieverDeps {
  readonly indexes: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  readonly ledger: Ledger;
  readonly settings?: RetrievalSettings;
}

export interface RetrievalRequest {
  readonly scope: DatasetScope;
  readonly query: string;
  /** Of the query, in the dataset's space; null leaves the dense lane out. */
  readonly vector: Float32Array | null;
  /** Passages wanted. */
  readonly limit: number;
  readonly nodeSets?: readonly string[];
  /** Anchors relative dates of the query. */
  readonly now?: Date;
  readonly signal?: AbortSignal;
}

/** Why a passage stands where it stands. */
export interface Explanation {
  readonly lanes: Readonly<Partial<Record<LaneName, { readonly rank: number; readonly score: number }>>>;
  /** Sum over the lanes, see `fuse`. */
  readonly fusion: number;
  /** Score of the passage alone and with the passage that completes it. */
  readonly own: number;
  readonly evidence: number;
  /** The passage that completes it, and the entity that joins the two. */
  readonly partner: string | null;
  readonly via: string | null;
}

export interface RankedPassage {
  readonly id: string;
  readonly row: TextRow;
  readonly payload: ChunkPayload;
  readonly score: number;
  /** Share of the query's information that the passage (not its partner) covers, 0 to about 1. */
  readonly coverage: number;
  readonly similarity: number | null;
  /** What it holds of each term of the query, in the order of `analysis.terms`: BM25 parts, 0 for none. */
  readonly terms: Float64Array;
  /** Passages that say the same, this one included. */
  readonly support: number;
  readonly explanation: Explanation;
}

export interface Retrieval {
  readonly analysis: QueryAnalysis;
  /** idf of each term of the query in the dataset, in the order of `analysis.terms`. */
  readonly information: readonly number[];
  readonly passages: readonly RankedPassage[];
  readonly named: readonly NamedEntity[];
  readonly links: readonly PassageLink[];
  /** Entities of the strongest passages, as the graph has them. */
  readonly mentions: readonly EdgeEvidence[];
}

/** Finds the passages that answer a query in one dataset: `design/retrieval.md` §4. */
export interface Retriever {
  retrieve(request: RetrievalRequest): Promise<Retrieval>;
}

export function createRetriever(deps: RetrieverDeps): Retriever {
  const settings = deps.settings ?? DEFAULT_SETTINGS;
  const tokensOf = createWordTokens();
  return {
    async retrieve(request) {
      const context: LaneContext = {
        scope: request.scope,
        analysis: analyseQuery(request.query, request.now === undefined ? {} : { now: request.now }),
        nodeSets: request.nodeSets,
        settings,
        visibility: createVisibility(deps.ledger, request.scope),
        ...deps.indexes,
        signal: request.signal,
      };
      return new Search(context, request.vector, tokensOf).run(request.limit);
    },
  };
}

/** What one look-up of rows by id may add to the pool; the rest of the lanes' hits is not read. */
const FETCH_LIMIT = 64;
/** Places that are ordered without repetition, at least. */
const MIN_PLACES = 20;

/** Passages looked at beyond those wanted, to replace duplicates. */
const DUPLICATE_RESERVE = 10;

/** One query against one dataset. Steps in order: lanes, first fusion, second hop, second fusion, evidence. */
class Search {
  private readonly context: LaneContext;
  private readonly vector: Float32Array | null;
  private readonly tokensOf: WordTokens;
  private readonly candidates = new Map<string, Candidate>();
  private scorer: TermScorer = createTermScorer([], { rowCount: 0, averageLength: 0, rowFrequencies: [] });
  private named: readonly NamedEntity[] = [];
  private dated: ReadonlySet<string> = new Set();
  private datedInformation = 0;
  private lanes = new Map<LaneName, readonly LaneHit[]>();

  constructor(context: LaneContext, vector: Float32Array | null, tokensOf: WordTokens) {
    this.context = context;
    this.vector = vector;
    this.tokensOf = tokensOf;
  }

  async run(limit: number): Promise<Retrieval> {
    const { statistics } = await this.runLanes();
    this.readSentences(this.strongest(this.fuseLanes()).slice(0, this.context.settings.sentenceLimit));
    const first = this.fuseLanes();
    const seeds = this.strongest(first).slice(0, this.context.settings.bridgeSeeds);
    const around = await neighbourhood(
      this.context,
      seeds.map((seed) => seed.id),
      this.named,
      statistics.rowCount,
    );
    if (runs(this.context, 'graph')) {
      this.addLane('graph', graphHits(around.edges, this.named, seeds, this.context.settings.denseLimit));
    }
    await this.addLinked(around, new Map(seeds.map((seed) => [seed.id, seed.score])));
    const fused = this.fuseLanes();
    const passages = this.rank(fused, around.links, limit);
    return {
      analysis: this.context.analysis,
      information: this.scorer.information,
      passages: passages.slice(0, limit),
      named: this.named,
      links: around.links,
      mentions: around.mentions,
    };
  }

  private async runLanes(): Promise<{ readonly statistics: TextCandidates['statistics'] }> {
    const { context } = this;
    const [lexical, dense, named, dated] = await Promise.all([
      lexicalRows(context),
      denseHits(context, this.vector),
      namedEntities(context),
      timeRows(context),
    ]);
    this.scorer = createTermScorer(context.analysis.terms, lexical.statistics, this.tokensOf);
    for (const row of lexical.rows) {
      this.candidates.set(row.id, createCandidate(row, this.scorer.ofFrequencies(row.frequencies, row.length)));
    }
    this.named = named.map(({ name, chunks }) => ({
      entityId: name.entityId,
      name: name.name,
      information: this.informationOf(name.name, chunks.size, lexical.statistics.rowCount),
      chunks,
    }));
    this.dated = new Set(dated.map((row) => row.id));
    this.datedInformation = this.dated.size === 0 ? 0 : inverseRowFrequency(lexical.statistics.rowCount, dated.length);
    const lexicalHits = [...this.candidates.values()].map(({ row, lexicalScore }) => ({
      id: row.id,
      score: lexicalScore,
    }));
    const hits: readonly (readonly [LaneName, readonly LaneHit[]])[] = [
      ['lexical', runs(context, 'lexical') ? lexicalHits : []],
      ['dense', dense.map((hit) => ({ id: hit.id, score: hit.similarity }))],
      ['entity', this.entityHits()],
      ['time', dated.map((row) => ({ id: row.id, score: this.scoreOfDated(row) }))],
    ];
    await this.fetchMissing(hits.map(([, lane]) => lane));
    for (const [name, lane] of hits) this.addLane(name, lane);
    for (const hit of dense) this.set(hit.id, (candidate) => (candidate.similarity = hit.similarity));
    return { statistics: lexical.statistics };
  }

  /** Best sentence of the strongest passages: a fact told in one sentence, where a long passage drowns it. */
  private readSentences(strongest: readonly LaneHit[]): void {
    if (!runs(this.context, 'sentence')) return;
    const hits = strongest.flatMap(({ id }) => {
      const candidate = this.candidates.get(id);
      if (candidate === undefined) return [];
      const split = sentences(candidate.payload.text).map((sentence) => sentence.text);
      candidate.sentenceScore = this.scorer.bestSentence(split);
      return candidate.sentenceScore > 0 ? [{ id, score: candidate.sentenceScore }] : [];
    });
    this.addLane('sentence', hits);
  }

  /** Naming an entity tells as much as a term of its rarity; beyond the limit, as much as the rarest word of its name. */
  private informationOf(name: string, appearances: number, rowCount: number): number {
    if (appearances <= this.context.settings.passagesPerEntity) {
      return inverseRowFrequency(rowCount, appearances);
    }
    const words = new Set(tokenize(name));
    const known = this.context.analysis.terms.map((term, at) =>
      words.has(term) ? (this.scorer.information[at] ?? 0) : 0,
    );
    return Math.max(0, ...known);
  }

  private entityHits(): readonly LaneHit[] {
    const { subjectWeight, mentionWeight } = this.context.settings;
    const scores = new Map<string, number>();
    for (const entity of this.named) {
      for (const [chunk, isSubject] of entity.chunks) {
        const score = entity.information * (isSubject ? subjectWeight : mentionWeight);
        scores.set(chunk, (scores.get(chunk) ?? 0) + score);
      }
    }
    return [...scores].map(([id, score]) => ({ id, score }));
  }

  /** Within the window, what matches the query best comes first. */
  private scoreOfDated(row: TextRow): number {
    return 1 + (this.candidates.get(row.id)?.lexicalScore ?? 0);
  }

  private set(id: string, change: (candidate: Candidate) => void): void {
    const candidate = this.candidates.get(id);
    if (candidate !== undefined) change(candidate);
  }

  /** Reads passages that lanes found outside the lexical rows, first places of all lanes first. */
  private async fetchMissing(lanes: readonly (readonly LaneHit[])[]): Promise<void> {
    const sorted = lanes.map((lane) => lane.toSorted(byScore));
    const missing = new Set<string>();
    const longest = Math.max(0, ...sorted.map((lane) => lane.length));
    for (let place = 0; place < longest && missing.size < FETCH_LIMIT; place++) {
      for (const lane of sorted) {
        const hit = lane[place];
        if (hit !== undefined && !this.candidates.has(hit.id)) missing.add(hit.id);
      }
    }
    await this.fetch([...missing]);
  }

  private async fetch(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const rows = await this.context.text.fetch(this.context.scope, 'chunk', ids);
    for (const row of await this.context.visibility.filter(rows)) {
      if (this.candidates.has(row.id) || !this.isInNodeSets(row)) continue;
      const payload = row.payload as ChunkPayload;
      this.candidates.set(row.id, createCandidate(row, this.scorer.ofText(chunkIndexText(payload, {}))));
    }
  }

  private isInNodeSets(row: TextRow): boolean {
    const { nodeSets } = this.context;
    return nodeSets === undefined || row.nodeSets.some((name) => nodeSets.includes(name));
  }

  private addLane(name: LaneName, hits: readonly LaneHit[]): void {
    const known = hits.filter((hit) => this.candidates.has(hit.id)).toSorted(byScore);
    this.lanes.set(name, known);
    for (const [index, hit] of known.entries()) {
      this.candidates.get(hit.id)?.lanes.set(name, { rank: index + 1, score: hit.score });
    }
  }

  private fuseLanes(): ReadonlyMap<string, FusedItem> {
    const { laneWeights, poolLimit, guaranteedPerLane } = this.context.settings;
    const lanes = [...this.lanes].map(([name, hits]) => ({
      name,
      ids: hits.map((hit) => hit.id),
      weight: laneWeights[name],
    }));
    return new Map(fuse(lanes, { limit: poolLimit, guaranteedPerLane }).map((item) => [item.id, item]));
  }

  private strongest(fused: ReadonlyMap<string, FusedItem>): readonly LaneHit[] {
    const best = bestFusion(fused);
    return [...fused.values()]
      .flatMap((item) => {
        const candidate = this.candidates.get(item.id);
        if (candidate === undefined) return [];
        const coverage = this.coverageOf(candidate).reduce((sum, value) => sum + value, 0);
        return [{ id: item.id, score: coverage + this.bonusOf(candidate, item, best) }];
      })
      .sort(byScore);
  }

  /** Query terms, then the entities that the query names, then the time it asks for. */
  private coverageOf(candidate: Candidate): Float64Array {
    const { subjectWeight, mentionWeight, timeWeight } = this.context.settings;
    const coverage = new Float64Array(candidate.terms.length + this.named.length + 1);
    coverage.set(candidate.terms);
    if (this.dated.has(candidate.row.id)) coverage[coverage.length - 1] = this.datedInformation * timeWeight;
    for (const [at, entity] of this.named.entries()) {
      const isSubject = entity.chunks.get(candidate.row.id);
      if (isSubject === undefined) continue;
      coverage[candidate.terms.length + at] = entity.information * (isSubject ? subjectWeight : mentionWeight);
    }
    return coverage;
  }

  private bonusOf(candidate: Candidate, fused: FusedItem | undefined, best: number): number {
    const { sentenceShare, fusionShare } = this.context.settings;
    const place = fused === undefined || best === 0 ? 0 : fused.score / best;
    return sentenceShare * candidate.sentenceScore + fusionShare * this.scale * place;
  }

  /** Score units: what the query is worth. A query whose words the index does not know still ranks by its lanes. */
  private get scale(): number {
    return this.scorer.unit > 0 ? this.scorer.unit : 1;
  }

  /** Reads the linked passages that no lane found, the best-linked of the best passages first. */
  private async addLinked(around: Neighbourhood, seedScores: ReadonlyMap<string, number>): Promise<void> {
    const worth = new Map<string, number>();
    for (const link of around.links) {
      if (this.candidates.has(link.to)) continue;
      const value = link.weight * (seedScores.get(link.from) ?? 0);
      if (value > (worth.get(link.to) ?? 0)) worth.set(link.to, value);
    }
    const best = [...worth].map(([id, score]) => ({ id, score })).sort(byScore);
    await this.fetch(best.slice(0, this.context.settings.linkedLimit).map((hit) => hit.id));
  }

  private rank(
    fused: ReadonlyMap<string, FusedItem>,
    links: readonly PassageLink[],
    limit: number,
  ): readonly RankedPassage[] {
    const { settings } = this.context;
    const linked = new Set(links.flatMap((link) => [link.from, link.to]));
    const pool = [...this.candidates.values()].filter(({ row }) => fused.has(row.id) || linked.has(row.id));
    const positions = new Map(pool.map((candidate, at) => [candidate.row.id, at]));
    const best = bestFusion(fused);
    const via = new Map<string, string>();
    const known: EvidenceLink[] = [];
    for (const link of links) {
      const from = positions.get(link.from);
      const to = positions.get(link.to);
      if (from === undefined || to === undefined) continue;
      known.push({ from, to, weight: link.weight });
      via.set(`${from} ${to}`, link.entityId);
      via.set(`${to} ${from}`, link.entityId);
    }
    const ranked = rankEvidence(
      pool.map((candidate) => ({
        coverage: this.coverageOf(candidate),
        bonus: this.bonusOf(candidate, fused.get(candidate.row.id), best),
      })),
      known,
      {
        linkValue: settings.linkShare * this.scale,
        pairShare: settings.pairShare,
        redundancy: settings.redundancy,
        places: Math.max(limit, MIN_PLACES),
      },
    );
    const passages = ranked.slice(0, limit + DUPLICATE_RESERVE).flatMap((entry) => {
      const candidate = pool[entry.index];
      if (candidate === undefined) return [];
      const partner = entry.partner === null ? null : (pool[entry.partner]?.row.id ?? null);
      return [
        {
          id: candidate.row.id,
          documentId: candidate.payload.documentId,
          text: candidate.payload.text,
          candidate,
          entry,
          partner,
          via: entry.partner === null ? null : (via.get(`${entry.index} ${entry.partner}`) ?? null),
        },
      ];
    });
    return collapseNearDuplicates(passages).map(({ item, support }) => ({
      id: item.id,
      row: item.candidate.row,
      payload: item.candidate.payload,
      score: item.entry.score / this.scale,
      coverage: item.candidate.lexicalScore / this.scale,
      similarity: item.candidate.similarity,
      terms: item.candidate.terms,
      support,
      explanation: {
        lanes: Object.fromEntries(item.candidate.lanes),
        fusion: fused.get(item.id)?.score ?? 0,
        own: item.entry.own,
        evidence: item.entry.score,
        partner: item.partner,
        via: item.via,
      },
    }));
  }
}

function byScore(left: LaneHit, right: LaneHit): number {
  return right.score - left.score || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
}

function bestFusion(fused: ReadonlyMap<string, FusedItem>): number {
  let best = 0;
  for (const item of fused.values()) best = Math.max(best, item.score);
  return best;
}
