import type { DataItem } from '../../services/common/domain/data-item.ts';
import type { DataItemId, UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';

/** The record of a small text, as ingest makes it. */
export function textItem(more: Partial<DataItem> = {}): DataItem {
  return {
    id: asId<DataItemId>('i1'),
    name: 'notes',
    fileName: `${more.name ?? 'notes'}.txt`,
    label: null,
    ownerId: asId<UserId>('ada'),
    extension: 'txt',
    mimeType: 'text/plain',
    format: 'text',
    sizeBytes: 5,
    contentHash: 'a',
    nodeSets: [],
    externalMetadata: {},
    importanceWeight: 0.5,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: null,
    ...more,
  };
}
