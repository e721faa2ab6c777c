import type { SupersededSide, Supersession } from '../../common/records/cognify/supersessions.ts';

export function presentSupersession(supersession: Supersession) {
  const { id, subject, predicate, older, newer, reverted } = supersession;
  return {
    ...{ id, subject, predicate, status: reverted === null ? 'active' : 'reverted' },
    explanation: explain(supersession),
    reason: supersession.reason,
    older: presentSide(older),
    newer: presentSide(newer),
    detected_at: supersession.detectedAt,
    reverted_at: reverted?.at ?? null,
    reverted_by: reverted?.by ?? null,
  };
}

function presentSide({ text, value, item, chunk, at, from, support }: SupersededSide) {
  return { text, value, data_id: item, chunk_id: chunk, asserted_at: at, valid_from: from, support };
}

function explain({ subject, predicate, older, newer, reason }: Supersession): string {
  const what = `${predicate.replaceAll('_', ' ')} of ${subject}`;
  const said = `"${older.value}" was said ${day(older.at)}`;
  if (reason === 'ended') return `The ${what}: ${said}; ${day(newer.at)} it was said that this is over.`;
  return `The ${what} has one value at a time: ${said}, "${newer.value}" later, ${day(newer.at)}.`;
}

function day(time: string): string {
  return `on ${time.slice(0, 10)}`;
}
