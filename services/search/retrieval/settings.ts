import { LANES, type LaneName } from '../model.ts';

/**
 * The numbers of the pipeline. Tuned on MuSiQue-train-100 and HotpotQA-train-100 only, by coarse steps: every value
 * stands on a plateau where half or double changes recall@5 by less than the noise (`npm run bench:retrieval`).
 */
export interface RetrievalSettings {
  readonly lanes: ReadonlySet<LaneName>;
  /** RRF weights. */
  readonly laneWeights: Readonly<Record<LaneName, number>>;
  readonly lexicalLimit: number;
  readonly denseLimit: number;
  /** Passages whose sentences are read. */
  readonly sentenceLimit: number;
  /** Passages outside the lexical rows that are read and scored at query time. */
  readonly fetchLimit: number;
  /** Passages that are ranked by evidence. */
  readonly poolLimit: number;
  /** First hits of a lane that are always in the pool. */
  readonly guaranteedPerLane: number;
  /** Passages whose entities lead on to others: the first hop. 0 switches the second hop off. */
  readonly bridgeSeeds: number;
  /** Entities of one passage that are followed. */
  readonly entitiesPerPassage: number;
  /** Passages of one entity that are looked at; an entity with more is a hub and leads to its subject passages only. */
  readonly passagesPerEntity: number;
  /** Passages that only a link leads to: read and scored at query time. */
  readonly linkedLimit: number;
  /** Weight of naming an entity of the query, in units of the entity's idf: as the subject, as a mention. */
  readonly subjectWeight: number;
  readonly mentionWeight: number;
  /** Weight of telling of the time the query asks for, in units of its idf. */
  readonly timeWeight: number;
  /** Share of the best sentence's score that its passage gains. */
  readonly sentenceShare: number;
  /** What the first place of all lanes together is worth, as a share of the best possible lexical score. */
  readonly fusionShare: number;
  /** Worth of a link between passages that share an entity neither is about, against one that leads to the subject. */
  readonly sharedLinkWeight: number;
  /** See `EvidenceOptions`; the link value is a share of the best possible lexical score. */
  readonly linkShare: number;
  readonly pairShare: number;
  readonly redundancy: number;
}

export const DEFAULT_SETTINGS: RetrievalSettings = {
  lanes: new Set(LANES),
  laneWeights: { lexical: 1, dense: 1, sentence: 1, entity: 1, graph: 0.7, time: 0.7 },
  lexicalLimit: 100,
  denseLimit: 50,
  sentenceLimit: 25,
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
  sentenceShare: 0.25,
  fusionShare: 0.2,
  sharedLinkWeight: 0.2,
  linkShare: 0.3,
  pairShare: 0.75,
  redundancy: 0.25,
};
