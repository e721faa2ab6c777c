import { AccessChangedSchema } from '../../../../../proto/gen/engram/events/v1/events_pb.ts';
import { messageCodec } from '../codec.ts';
import type { AccessChange } from '../methods/auth.ts';
import { idOf } from './shared.ts';

export const accessChangeCodec = messageCodec(
  AccessChangedSchema,
  ({ tenant, userId, datasetId }: AccessChange) => ({
    tenant,
    ...(userId === null ? {} : { userId }),
    ...(datasetId === null ? {} : { datasetId }),
  }),
  ({ tenant, userId, datasetId }): AccessChange => ({
    tenant: idOf(tenant),
    userId: userId === undefined ? null : idOf(userId),
    datasetId: datasetId === undefined ? null : idOf(datasetId),
  }),
);
