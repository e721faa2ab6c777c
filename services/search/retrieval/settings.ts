import { LANES, type LaneName } from '../model.ts';

/**
 * Parameters of the pipeline. Tuned on MuSiQue-train-100 and HotpotQA-train-100 in coarse steps: for every value, half or
 * double of it changes recall@5 by less than the noise (`npm run bench:retrieval`).
 */
export interface RetrievalSettings {
  readonly lanes: ReadonlySet<LaneName>;
  /** Weights of the lanes in rank fusion. */
  readonly laneWeights: Readonly<Record<LaneName, number>>;
  readonly lexicalLimit: number;
  readonly denseLimit: number;
  /** Passages whose sentences are scored. */
  readonly sentenceLimit: number;
  /** Passages outside the lexical rows that are read and scored. */
  readonly fetchLimit: number;
  /** Passages that are ranked by evidence. */
  readonly poolLimit: number;
  /** First hits of each lane that are always in the pool. */
  readonly guaranteedPerLane: number;
  /** Passages of the first hop, whose entities lead to further passages. 0 switches the second hop off. */
  readonly bridgeSeeds: number;
  /** Entities of one passage that are followed. */
  readonly entitiesPerPassage: number;
  /** Passages read of one entity; an entity with more is a hub and leads to the passages about it only. */
  readonly passagesPerEntity: number;
  /** Passages found only by a link that are read and scored. */
  readonly linkedLimit: number;
  /** Weight of an entity of the query in a passage, as a factor of its idf: as the subject, as a mention. */
  readonly subjectWeight: number;
  readonly mentionWeight: number;
  /** Weight of a date in the time window, as a factor of its idf. */
  readonly timeWeight: number;
  /** Weight of a word of the same meaning, relative to the word itself. */
  readonly meaningShare: number;
  /** Weight of what the turns around a turn of a conversation say. 0: conversations are ranked like other texts. */
  readonly windowShare: number;
  /** Score of a turn of a speaker whom the question names, as a share of the best possible lexical score. */
  readonly speakerShare: number;
  /** Share of the best sentence's score that is added to its passage. */
  readonly sentenceShare: number;
  /** Score of the first rank in the fusion, as a share of the best possible lexical score. */
  readonly fusionShare: number;
  /** Weight of a link through an entity that neither passage is about, relative to a link to the passage about it. */
  readonly sharedLinkWeight: number;
  /** See `EvidenceOptions`; the link value is a share of the best possible lexical score. */
  readonly linkShare: number;
  readonly pairShare: number;
  readonly redundancy: number;
}

export const DEFAULT_SETTINGS: RetrievalSettings = {
  lanes: new Set(LANES),
  laneWeights: { lexical: 1, dense: 1, sentence: 1, meaning: 0, entity: 1, graph: 0.7, time: 0.7 },
  lexicalLimit: 100,
  denseLimit: 50,
  sentenceLimit: 40,
  fetchLimit: 64,
  poolLimit: 150,
  guaranteedPerLane: 3,
  bridgeSeeds: 12,
  entitiesPerPassage: 16,
  passagesPerEntity: 16,
  linkedLimit: 32,
  subjectWeight: 1.25,
  mentionWeight: 0.4,
  timeWeight: 1,
  meaningShare: 1,
  windowShare: 0.05,
  speakerShare: 0.2,
  sentenceShare: 0.25,
  fusionShare: 0.2,
  sharedLinkWeight: 0.2,
  linkShare: 0.3,
  pairShare: 0.75,
  redundancy: 0.25,
};
