import { collapseNearDuplicates } from '../../common/ranking/near-duplicates.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { LearnedShift, RankedPassage } from '../model.ts';
import type { PassageLink } from './bridge.ts';
import type { CandidatePool, Fusion } from './candidate-pool.ts';
import type { Candidate } from './candidates.ts';
import type { Conversation } from './conversation.ts';
import { type EvidenceLink, type RankedEvidence, rankEvidence } from './evidence.ts';
import { type LearnedReader, type PassageElements, shiftsOf } from './learned-weights.ts';
import type { RetrievalSettings } from './settings.ts';

/** Minimum and maximum number of ranks that are ordered without repetition. */
const MIN_PLACES = 20;
const MAX_PLACES = 50;
/** Additional passages that can replace near-duplicates. */
const DUPLICATE_RESERVE = 10;

interface Found {
  readonly fusion: Fusion;
  readonly links: readonly PassageLink[];
  readonly mentions: readonly EdgeEvidence[];
  readonly learned: LearnedReader | null;
  readonly conversation: Conversation | null;
}

/**
 * Ranks the fused and the linked passages by evidence and learned weights, collapses near-duplicates, and returns `limit`.
 */
export async function rankPassages(
  pool: CandidatePool,
  found: Found,
  settings: RetrievalSettings,
  limit: number,
): Promise<readonly RankedPassage[]> {
  const { fusion, conversation } = found;
  const linked = new Set(found.links.flatMap((link) => [link.from, link.to]));
  const competing = [...pool.candidates.values()].filter(({ row }) => fusion.has(row.id) || linked.has(row.id));
  const { links, via } = linksAmong(competing, found.links);
  const bonusOf = pool.bonus(fusion);
  const around = conversation?.around((id) => pool.coverageById(id), pool.units);
  const inConversation = (id: string) =>
    settings.windowShare * (around?.get(id) ?? 0) +
    settings.speakerShare * pool.scale * (conversation?.saidByNamed(id) ?? 0);
  const shifts = await learnedShifts(pool, competing, found);
  const ranked = rankEvidence(
    competing.map((candidate) => ({
      coverage: pool.coverageOf(candidate),
      bonus: bonusOf(candidate) + inConversation(candidate.row.id),
    })),
    links,
    {
      linkValue: settings.linkShare * pool.scale,
      pairShare: settings.pairShare,
      // Turns that are apart repeat the words of their topic.
      redundancy: conversation === null ? settings.redundancy : 0,
      places: Math.min(MAX_PLACES, Math.max(MIN_PLACES, limit)),
      ...(shifts === null ? {} : { adjust: shifts.adjust }),
    },
  );
  const spread = conversation?.spread(ranked, ({ index }) => competing[index]?.row.id ?? '') ?? ranked;
  const shown = spread.slice(0, limit + DUPLICATE_RESERVE);
  await pool.readTexts(shown.flatMap(({ index }) => competing[index]?.row.id ?? []));
  const passages = shown.flatMap((entry) => {
    const candidate = competing[entry.index];
    const payload = candidate?.payload ?? null;
    if (candidate === undefined || payload === null) return [];
    return [{ id: candidate.row.id, text: payload.text, payload, candidate, entry }];
  });
  return collapseNearDuplicates(passages)
    .slice(0, limit)
    .map(({ item, support }) => {
      const { candidate, payload, entry } = item;
      const partner = entry.partner === null ? undefined : competing[entry.partner];
      return {
        payload,
        ...presentable(candidate, entry, pool.scale),
        support,
        relevance: pool.relevanceOf(candidate),
        explanation: {
          lanes: candidate.lanes,
          fusion: fusion.get(item.id)?.score ?? 0,
          own: entry.own,
          evidence: entry.score,
          learned: shifts?.of(entry.index) ?? null,
          partner: partner?.row.id ?? null,
          via: partner === undefined ? null : via(item.id, partner.row.id),
        },
      };
    });
}

/** Reads the learned weights of the competing passages in one batch; null when nothing was learned. */
async function learnedShifts(
  { named }: CandidatePool,
  competing: readonly Candidate[],
  { mentions, learned }: Pick<Found, 'mentions' | 'learned'>,
) {
  if (learned === null) return null;
  const entities = new Map<string, Set<string>>(competing.map(({ row }) => [row.id, new Set()]));
  for (const { source, target } of mentions) entities.get(source)?.add(target);
  for (const { entityId, chunks } of named) for (const chunk of chunks.keys()) entities.get(chunk)?.add(entityId);
  const passages: readonly PassageElements[] = competing.map(({ row }) => ({
    id: row.id,
    entities: [...(entities.get(row.id) ?? [])],
  }));
  const weights = await learned([...new Set(passages.flatMap((passage) => [passage.id, ...passage.entities]))]);
  let shifts: readonly (LearnedShift | null)[] = [];
  return {
    adjust(scores: readonly number[]) {
      shifts = shiftsOf(passages, scores, weights);
      return scores.map((score, at) => score * (shifts[at]?.factor ?? 1));
    },
    of: (index: number) => shifts[index] ?? null,
  };
}

/** Returns the links between competing passages by position, and the entity of each in both directions. */
function linksAmong(competing: readonly Candidate[], all: readonly PassageLink[]) {
  const positions = new Map(competing.map((candidate, at) => [candidate.row.id, at]));
  const links: EvidenceLink[] = [];
  const known: PassageLink[] = [];
  for (const link of all) {
    const from = positions.get(link.from);
    const to = positions.get(link.to);
    if (from === undefined || to === undefined) continue;
    // Parts of one document share entities without completing each other.
    if (competing[from]?.row.item === competing[to]?.row.item) continue;
    links.push({ from, to, weight: link.weight });
    known.push(link);
  }
  const via = (one: string, other: string): string | null =>
    known.findLast(({ from, to }) => (from === one && to === other) || (from === other && to === one))?.entityId ??
    null;
  return { links, via };
}

function presentable(candidate: Candidate, entry: RankedEvidence, scale: number) {
  return {
    id: candidate.row.id,
    row: candidate.row,
    score: entry.score / scale,
    similarity: candidate.similarity,
    terms: candidate.terms,
  };
}
