import * as wire from '../../../../../proto/gen/engram/system/v1/system_pb.ts';
import { type MethodCodec, messageCodec } from '../codec.ts';
import type { DescribeResponse, HealthResponse } from '../methods/system.ts';

type Nothing = Record<string, never>;

export const Describe: MethodCodec<Nothing, DescribeResponse> = {
  request: messageCodec(
    wire.DescribeRequestSchema,
    () => ({}),
    () => ({}),
  ),
  response: messageCodec(
    wire.DescribeResponseSchema,
    ({ openApiJson }) => ({ openapiJson: openApiJson }),
    ({ openapiJson }) => ({ openApiJson: openapiJson }),
  ),
};

export const Health: MethodCodec<Nothing, HealthResponse> = {
  request: messageCodec(
    wire.HealthRequestSchema,
    () => ({}),
    () => ({}),
  ),
  response: messageCodec(
    wire.HealthResponseSchema,
    ({ status }) => ({ status }),
    // What another release may say beside these is no good news.
    ({ status }) => ({ status: status === 'healthy' || status === 'degraded' ? status : 'unhealthy' }),
  ),
};
