import * as wire from '../../../../../proto/gen/engram/improve/v1/improve_pb.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/improve.ts';
import { fromDataset, fromIdList, fromJsonText, maybe, toDataset, toIdList, toJsonText } from './shared.ts';

export const Improve: MethodCodec<methods.ImproveRequest, methods.ImproveResponse> = {
  request: messageCodec(
    wire.ImproveRequestSchema,
    ({ dataset, sessions, dueAt }) => ({
      ...{ dataset: toDataset(dataset), sessions: [...sessions], ...maybe('dueAt', dueAt) },
    }),
    ({ dataset, sessions, dueAt }) => ({
      ...{ dataset: fromDataset(present(dataset, 'dataset')), sessions, ...maybe('dueAt', dueAt) },
    }),
  ),
  response: messageCodec(
    wire.ImproveResponseSchema,
    ({ result, error }) => ({ resultJson: toJsonText(result), error: error ?? undefined }),
    ({ resultJson, error }) => ({ result: fromJsonText(resultJson), error: error ?? null }),
  ),
};

export const Erase: MethodCodec<methods.EraseLearnedRequest, methods.EraseLearnedResponse> = {
  request: messageCodec(
    wire.EraseRequestSchema,
    ({ dataset, items }) => ({ dataset: toDataset(dataset), items: toIdList(items) }),
    ({ dataset, items }) => ({ dataset: fromDataset(present(dataset, 'dataset')), ...fromIdList('items', items) }),
  ),
  response: messageCodec(
    wire.EraseResponseSchema,
    ({ removed, residue }) => ({ removed, residue }),
    ({ removed, residue }) => ({ removed, residue }),
  ),
};
