import type { MessageInitShape } from '@bufbuild/protobuf';
import * as wire from '../../../../../proto/gen/engram/ingest/v1/ingest_pb.ts';
import type { DataItem } from '../../../domain/data-item.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/ingest.ts';
import { fromDataset, fromIdList, fromJsonText, idOf, maybe, toDataset, toIdList, toJsonText } from './shared.ts';

export const DatasetItems: MethodCodec<methods.DatasetItemsRequest, methods.DatasetItemsResponse> = {
  request: messageCodec(
    wire.DatasetItemsRequestSchema,
    ({ dataset, after, limit, ids }) => ({
      dataset: toDataset(dataset),
      after: after ?? undefined,
      limit,
      ids: toIdList(ids),
    }),
    ({ dataset, after, limit, ids }) => ({
      dataset: fromDataset(present(dataset, 'dataset')),
      ...maybe('after', after),
      limit,
      ...fromIdList('ids', ids),
    }),
  ),
  response: messageCodec(
    wire.DatasetItemsResponseSchema,
    ({ items, next }) => ({ items: items.map(toItem), next: next ?? undefined }),
    ({ items, next }) => ({ items: items.map(fromItem), next: next ?? null }),
  ),
};

export const KeepDocuments: MethodCodec<methods.KeepDocumentsRequest, methods.KeepDocumentsResponse> = {
  request: messageCodec(
    wire.KeepDocumentsRequestSchema,
    ({ dataset, documents }) => ({
      dataset: toDataset(dataset),
      documents: documents.map(({ key, name, text, nodeSets, externalMetadata }) => ({
        ...{ key, name, text, nodeSets: [...nodeSets] },
        externalMetadataJson: toJsonText(externalMetadata),
      })),
    }),
    ({ dataset, documents }) => ({
      dataset: fromDataset(present(dataset, 'dataset')),
      documents: documents.map(({ key, name, text, nodeSets, externalMetadataJson }) => ({
        ...{ key, name, text, nodeSets, externalMetadata: fromJsonText(externalMetadataJson) },
      })),
    }),
  ),
  response: messageCodec(
    wire.KeepDocumentsResponseSchema,
    ({ itemIds, added }) => ({ itemIds: [...itemIds], added }),
    ({ itemIds, added }) => ({ itemIds, added }),
  ),
};

export const TakeDownload: MethodCodec<methods.TakeDownloadRequest, methods.TakeDownloadResponse> = {
  request: messageCodec(
    wire.TakeDownloadRequestSchema,
    ({ dataset, blobKey, fileName, mimeType, sizeBytes, md5, sha256 }) => ({
      ...{ dataset: toDataset(dataset), blobKey, fileName, md5, sha256 },
      mimeType: mimeType ?? undefined,
      sizeBytes: BigInt(sizeBytes),
    }),
    ({ dataset, blobKey, fileName, mimeType, sizeBytes, md5, sha256 }) => ({
      ...{ dataset: fromDataset(present(dataset, 'dataset')), blobKey, fileName, md5, sha256 },
      mimeType: mimeType ?? null,
      sizeBytes: Number(sizeBytes),
    }),
  ),
  response: messageCodec(
    wire.TakeDownloadResponseSchema,
    ({ itemId }) => ({ itemId }),
    ({ itemId }) => ({ itemId }),
  ),
};

function toItem(item: DataItem): MessageInitShape<typeof wire.DataItemSchema> {
  const { id, name, fileName, label, ownerId, extension, mimeType, format, contentHash, importanceWeight } = item;
  return {
    ...{ id, name, fileName, ownerId, extension, mimeType, format, contentHash, importanceWeight },
    label: label ?? undefined,
    revision: item.revision ?? undefined,
    sizeBytes: BigInt(item.sizeBytes),
    nodeSets: [...item.nodeSets],
    externalMetadataJson: toJsonText(item.externalMetadata),
    createdAt: item.createdAt,
    updatedAt: item.updatedAt ?? undefined,
  };
}

function fromItem(item: wire.DataItem): DataItem {
  const { id, name, fileName, label, ownerId, extension, mimeType, format, contentHash, importanceWeight } = item;
  return {
    ...{ id: idOf(id), name, fileName, label: label ?? null, ownerId: idOf(ownerId) },
    ...{ extension, mimeType, format, contentHash, importanceWeight },
    sizeBytes: Number(item.sizeBytes),
    nodeSets: item.nodeSets,
    ...maybe('revision', item.revision),
    externalMetadata: fromJsonText(item.externalMetadataJson),
    createdAt: item.createdAt,
    updatedAt: item.updatedAt ?? null,
  };
}
