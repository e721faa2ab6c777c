import type { HistoryEntry } from '../../common/records/ingest/search-history.ts';

export function presentHistory(entries: readonly HistoryEntry[]) {
  return entries.map(({ id, text, speaker, createdAt, datasetId }) => ({
    id,
    text,
    user: speaker,
    createdAt,
    datasetId,
  }));
}
