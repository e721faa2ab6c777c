import * as wire from '../../../../../proto/gen/engram/search/v1/search_pb.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import * as methods from '../methods/search.ts';
import { fromDataset, maybe, toDataset } from './shared.ts';

export const Erase: MethodCodec<methods.EraseSearchedRequest, methods.EraseSearchedResponse> = {
  request: messageCodec(
    wire.EraseRequestSchema,
    ({ dataset }) => ({ dataset: toDataset(dataset) }),
    ({ dataset }) => ({ dataset: fromDataset(present(dataset, 'dataset')) }),
  ),
  response: messageCodec(
    wire.EraseResponseSchema,
    ({ removed, residue }) => ({ removed, residue }),
    ({ removed, residue }) => ({ removed, residue }),
  ),
};

export const EraseAnswers: MethodCodec<methods.EraseAnswersRequest, methods.EraseAnswersResponse> = {
  request: messageCodec(
    wire.EraseAnswersRequestSchema,
    ({ dataset, items }) => ({ dataset: toDataset(dataset), items: [...items] }),
    ({ dataset, items }) => ({ dataset: fromDataset(present(dataset, 'dataset')), items }),
  ),
  response: messageCodec(
    wire.EraseAnswersResponseSchema,
    ({ removed }) => ({ removed }),
    ({ removed }) => ({ removed }),
  ),
};

export const LookFor: MethodCodec<methods.LookForRequest, methods.LookForResponse> = {
  request: messageCodec(
    wire.LookForRequestSchema,
    (request) => request,
    ({ text, datasetId, datasetName }) => ({
      ...{ text, ...maybe('datasetId', datasetId), ...maybe('datasetName', datasetName) },
    }),
  ),
  response: messageCodec(
    wire.LookForResponseSchema,
    ({ foundBy, refusal }) => ({ foundBy: [...foundBy], refusal: refusal ?? undefined }),
    ({ foundBy, refusal }) => ({
      foundBy: methods.FOUND_BY.filter((way) => foundBy.includes(way)),
      refusal: refusal ?? null,
    }),
  ),
};
