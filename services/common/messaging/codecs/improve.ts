import * as wire from '../../contracts/engram/improve/v1/improve_pb.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/improve.ts';
import { fromDataset, fromIdList, toDataset, toIdList } from './shared.ts';

export const StartImprove: MethodCodec<methods.StartImproveRequest, methods.StartImproveResponse> = {
  request: messageCodec(
    wire.StartImproveRequestSchema,
    ({ dataset, sessions }) => ({ dataset: toDataset(dataset), sessions: [...sessions] }),
    ({ dataset, sessions }) => ({ dataset: fromDataset(present(dataset, 'dataset')), sessions }),
  ),
  response: messageCodec(
    wire.StartImproveResponseSchema,
    ({ accepted, rerunRequested }) => ({ accepted, rerunRequested }),
    ({ accepted, rerunRequested }) => ({ accepted, rerunRequested }),
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
