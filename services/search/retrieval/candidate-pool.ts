import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import { inverseRowFrequency } from '../../common/ranking/bm25.ts';
import type { TextCandidate, TextCandidates, TextRow } from '../../common/storage/ports/text-index.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import type { LaneName } from '../model.ts';
import { type Candidate, createCandidate, createTermScorer, type NamedEntity } from './candidates.ts';
import { byScore, type FoundEntity, type LaneContext, type LaneHit } from './lanes.ts';
import { createMeaning, type Meaning } from './meaning.ts';
import { type FusedItem, fuse } from './rrf.ts';
import { readWords } from './vocabulary.ts';
import { findTerms, type PassageWords } from './word-coverage.ts';

/** Initial content of the pool. */
interface PoolOrigin {
  readonly rows: readonly TextCandidate[];
  readonly statistics: TextCandidates['statistics'];
  readonly entities: readonly FoundEntity[];
  /** Passages dated within the time window of the query. */
  readonly dated: readonly TextRow[];
}

export type Fusion = ReadonlyMap<string, FusedItem>;

/** The candidate passages of one query, and their scores. */
export class CandidatePool {
  readonly candidates = new Map<string, Candidate>();
  readonly named: readonly NamedEntity[];
  /** Unit of scores: the information of the query; 1 when the index knows none of its words. */
  readonly scale: number;
  /** idf of each term of the query. */
  readonly information: readonly number[];
  private readonly context: LaneContext;
  private readonly scorer: ReturnType<typeof createTermScorer>;
  private readonly meaning: Meaning;
  private readonly find: ReturnType<typeof findTerms>;
  private readonly dated: ReadonlySet<string>;
  private readonly datedInformation: number;
  private readonly lanes = new Map<LaneName, readonly LaneHit[]>();
  /** Weight of each term in the coverage; null: all count fully. */
  private weights: readonly number[] | null = null;

  constructor(context: LaneContext, origin: PoolOrigin) {
    const { rowCount } = origin.statistics;
    this.context = context;
    this.scorer = createTermScorer(context.analysis.terms, origin.statistics);
    this.information = this.scorer.information;
    this.meaning = createMeaning(context.analysis.terms, context.analysis.words, this.information);
    this.find = findTerms(context.analysis.terms);
    this.scale = this.scorer.unit > 0 ? this.scorer.unit : 1;
    for (const row of origin.rows) {
      this.candidates.set(row.id, createCandidate(row, this.scorer.ofFrequencies(row.frequencies, row.length)));
    }
    this.named = origin.entities.map(({ name, chunks }) => ({
      entityId: name.entityId,
      name: name.name,
      information: this.informationOf(name.name, chunks.size, rowCount),
      chunks,
    }));
    this.dated = new Set(origin.dated.map((row) => row.id));
    this.datedInformation = this.dated.size === 0 ? 0 : inverseRowFrequency(rowCount, this.dated.size);
  }

  /** Returns the idf of an entity, like that of a term as rare; beyond the limit, that of the rarest word of its name. */
  private informationOf(name: string, appearances: number, rowCount: number): number {
    if (appearances <= this.context.settings.passagesPerEntity) return inverseRowFrequency(rowCount, appearances);
    const words = new Set(tokenize(name));
    const known = this.context.analysis.terms.map((term, at) => (words.has(term) ? (this.information[at] ?? 0) : 0));
    return Math.max(0, ...known);
  }

  /** Adds passages by id, without those that are not visible or in other node sets. */
  async read(ids: readonly string[]): Promise<void> {
    const { text, scope, visibility, nodeSets, analysis } = this.context;
    const missing = ids.filter((id) => !this.candidates.has(id));
    if (missing.length === 0) return;
    const rows = await text.fetchCandidates(scope, {
      kind: 'chunk',
      ids: missing,
      terms: analysis.terms,
      withPayload: false,
    });
    for (const row of await visibility.filter(rows)) {
      if (nodeSets !== undefined && !row.nodeSets.some((name) => nodeSets.includes(name))) continue;
      this.candidates.set(row.id, createCandidate(row, this.scorer.ofFrequencies(row.frequencies, row.length)));
    }
  }

  /** Reads the texts of the passages that came without, and removes those that were deleted meanwhile. */
  async readTexts(ids: readonly string[]): Promise<void> {
    const { text, scope } = this.context;
    const unread = ids.filter((id) => this.candidates.get(id)?.payload === null);
    const missing: string[] = [];
    for (const id of unread) {
      const candidate = this.candidates.get(id);
      if (candidate === undefined || !hasText(candidate.row)) missing.push(id);
      else candidate.payload = candidate.row.payload as ChunkPayload;
    }
    if (missing.length === 0) return;
    for (const row of await text.fetch(scope, 'chunk', missing)) {
      const candidate = this.candidates.get(row.id);
      if (candidate?.row.item !== row.item || candidate.row.generation !== row.generation) continue;
      candidate.row = row;
      candidate.payload = row.payload as ChunkPayload;
      candidate.words = null;
      candidate.found = null;
    }
    for (const id of missing) if (this.candidates.get(id)?.payload === null) this.candidates.delete(id);
  }

  /** Scores the sentences of a passage whose text was read; returns the best score. */
  readSentences(candidate: Candidate): number {
    candidate.sentenceScore = this.scorer.bestSentence(this.wordsOf(candidate).sentences, this.foundIn(candidate));
    return candidate.sentenceScore;
  }

  /** Compares a passage whose text was read with the query by the meaning of its words; returns its score. */
  readMeaning(candidate: Candidate): number {
    const { payload, terms } = candidate;
    if (payload === null) return 0;
    candidate.meaning = this.worthOf(this.meaning.bestSentence(this.wordsOf(candidate), this.foundIn(candidate)));
    candidate.sentenceScore = Math.max(candidate.sentenceScore, sum(candidate.meaning));
    return sum(candidate.meaning.map((value, at) => Math.max(value, terms[at] ?? 0)));
  }

  /** Sets what a passage means until its text is read. */
  setMeaning(id: string, shares: readonly number[]): void {
    const candidate = this.candidates.get(id);
    if (candidate !== undefined) candidate.meaning = this.worthOf(shares);
  }

  private worthOf(shares: readonly number[]): readonly number[] {
    const { meaningShare } = this.context.settings;
    return shares.map((share, at) => meaningShare * share * (this.information[at] ?? 0));
  }

  /** Returns the share of the query's information (0 to 1) that the best sentence of a passage holds, see `readMeaning`. */
  relevanceOf(candidate: Candidate): number {
    if (candidate.meaning === null) this.readMeaning(candidate);
    return Math.min(1, sum(candidate.meaning ?? []) / (this.context.settings.meaningShare * this.scale));
  }

  private wordsOf(candidate: Candidate): PassageWords {
    if (candidate.payload === null) return NO_WORDS;
    candidate.words ??= wordsOfPassage(candidate.payload);
    return candidate.words;
  }

  private foundIn(candidate: Candidate): readonly (readonly number[])[] {
    if (candidate.payload === null) return [];
    candidate.found ??= this.wordsOf(candidate).sentences.map(this.find);
    return candidate.found;
  }

  /** Adds the ranking of a lane, without hits outside the pool. Replaces an earlier one of the same lane. */
  addLane(name: LaneName, hits: readonly LaneHit[]): void {
    const known = hits.filter((hit) => this.candidates.has(hit.id)).toSorted(byScore);
    this.lanes.set(name, known);
    for (let index = 0; index < known.length; index++) {
      const { id, score } = known[index] as LaneHit;
      const candidate = this.candidates.get(id);
      if (candidate !== undefined) candidate.lanes[name] = { rank: index + 1, score };
    }
  }

  fuse(): Fusion {
    const { laneWeights, poolLimit, guaranteedPerLane } = this.context.settings;
    const lanes = [...this.lanes].map(([name, hits]) => ({
      ids: hits.map((hit) => hit.id),
      weight: laneWeights[name],
    }));
    return new Map(fuse(lanes, { limit: poolLimit, guaranteedPerLane }).map((item) => [item.id, item]));
  }

  /** Returns the fused passages by their own score. */
  strongest(fusion: Fusion): readonly LaneHit[] {
    const bonusOf = this.bonus(fusion);
    const coverage = this.emptyCoverage();
    const hits: LaneHit[] = [];
    for (const id of fusion.keys()) {
      const candidate = this.candidates.get(id);
      if (candidate === undefined) continue;
      hits.push({ id, score: sum(this.coverageOf(candidate, coverage.fill(0))) + bonusOf(candidate) });
    }
    return hits.sort(byScore);
  }

  /** Changes how much each term counts in the coverage. */
  weigh(weights: readonly number[]): void {
    this.weights = weights;
  }

  /** Information of each term of the query, as much as it counts in the coverage. */
  get units(): readonly number[] {
    return this.information.map((value, at) => value * (this.weights?.[at] ?? 1));
  }

  /** Returns the coverage of a passage by its id; null when it is not in the pool. */
  coverageById(id: string): Float64Array | null {
    const candidate = this.candidates.get(id);
    return candidate === undefined ? null : this.coverageOf(candidate);
  }

  /** Returns the coverage: one value for each query term, for each named entity, and for the time window. */
  coverageOf({ terms, meaning, row }: Candidate, coverage = this.emptyCoverage()): Float64Array {
    const { subjectWeight, mentionWeight, timeWeight } = this.context.settings;
    for (let at = 0; at < terms.length; at++) {
      const value = Math.max(terms[at] as number, meaning?.[at] ?? 0);
      coverage[at] = value * (this.weights?.[at] ?? 1);
    }
    if (this.dated.has(row.id)) coverage[coverage.length - 1] = this.datedInformation * timeWeight;
    for (let at = 0; at < this.named.length; at++) {
      const entity = this.named[at] as NamedEntity;
      const isSubject = entity.chunks.get(row.id);
      if (isSubject === undefined) continue;
      coverage[terms.length + at] = entity.information * (isSubject ? subjectWeight : mentionWeight);
    }
    return coverage;
  }

  private emptyCoverage(): Float64Array {
    return new Float64Array(this.information.length + this.named.length + 1);
  }

  /** Returns the score beyond the coverage: from the best sentence, and from the rank fusion of the lanes. */
  bonus(fusion: Fusion): (candidate: Candidate) => number {
    const { sentenceShare, fusionShare } = this.context.settings;
    let best = Number.MIN_VALUE;
    for (const item of fusion.values()) best = Math.max(best, item.score);
    return (candidate) => {
      const place = (fusion.get(candidate.row.id)?.score ?? 0) / best;
      return sentenceShare * candidate.sentenceScore + fusionShare * this.scale * place;
    };
  }
}

function hasText({ payload }: TextRow): boolean {
  return (payload as Partial<ChunkPayload>).text !== undefined;
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

const NO_WORDS: PassageWords = { header: readWords(''), sentences: [] };

/** By payloads, which are kept while many questions find them. */
const ofPayloads = new WeakMap<ChunkPayload, PassageWords>();

function wordsOfPassage(payload: ChunkPayload): PassageWords {
  const known = ofPayloads.get(payload);
  if (known !== undefined) return known;
  const { text, documentName, headings } = payload;
  const words = {
    header: readWords([documentName.replaceAll('_', ' '), ...headings].join(' ')),
    sentences: sentences(text).map(({ start, end }) => readWords(text, start, end)),
  };
  ofPayloads.set(payload, words);
  return words;
}
