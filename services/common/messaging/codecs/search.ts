import * as wire from '../../contracts/engram/search/v1/search_pb.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/search.ts';
import { fromDataset, toDataset } from './shared.ts';

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
