import type { DataItem } from '../../common/domain/data-item.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { FailedBuild } from '../../common/records/cognify/ledger.ts';
import { documentLabel } from '../../common/text/document-label.ts';

/** Returns an item as a person knows it: its label, else its file name, else the first words of a text without a name. */
export function displayName({ label, name, fileName, excerpt }: DataItem): string {
  return label ?? documentLabel({ name, fileName, text: excerpt ?? '' });
}

/**
 * Data item record of the wire (ingest.md §5.1): extension, type and location are those of the derived text. The location
 * is the path of its download, never one of the server. `failure` is there only for an item that could not be built.
 */
export function presentDataItem(
  item: DataItem,
  dataset: DatasetId,
  failure: FailedBuild | null = null,
): Readonly<Record<string, unknown>> {
  return {
    id: item.id,
    name: item.name,
    label: item.label,
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    extension: 'txt',
    mimeType: 'text/plain',
    rawDataLocation: `/api/v1/datasets/${dataset}/data/${item.id}/raw`,
    datasetId: dataset,
    externalMetadata: presentMetadata(item),
    dataSize: item.sizeBytes,
    ...(failure === null ? {} : { failure }),
  };
}

/** The same for answers in snake_case. */
export function presentFailure({ errorClass, message, tries, isSetAside, failedAt }: FailedBuild) {
  return {
    error_class: errorClass,
    error_message: message,
    tries,
    is_set_aside: isSetAside,
    failed_at: failedAt,
  };
}

function presentMetadata(item: DataItem): Readonly<Record<string, unknown>> {
  return item.nodeSets.length === 0 ? item.externalMetadata : { ...item.externalMetadata, node_set: item.nodeSets };
}

/** RFC 6266: an ASCII name for old clients and the exact one in UTF-8. */
export function contentDisposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const exact = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}

/** Dataset record of the wire (ingest.md §5.1). */
export function presentDataset(dataset: DatasetRef): Readonly<Record<string, unknown>> {
  return {
    id: dataset.id,
    name: dataset.name,
    createdAt: dataset.createdAt,
    updatedAt: dataset.updatedAt,
    ownerId: dataset.ownerId,
  };
}
