import type { ServiceName } from '../../../domain/service-paths.ts';
import { defineMethod, type Method } from '../method.ts';

const codecs = () => import('../codecs/system.ts');

export interface DescribeResponse {
  /** The OpenAPI document of the service's routes, as JSON. */
  readonly openApiJson: string;
}

export interface HealthResponse {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
}

type Nothing = Record<string, never>;

const describe = defineMethod<Nothing, DescribeResponse>('system.Describe', () =>
  codecs().then(({ Describe }) => Describe),
);
const health = defineMethod<Nothing, HealthResponse>('system.Health', () => codecs().then(({ Health }) => Health));

/** What each service answers about itself. */
export function describeService(service: ServiceName): Method<Nothing, DescribeResponse> {
  return { ...describe, subject: `engram.${service}.Describe` };
}

export function serviceHealth(service: ServiceName): Method<Nothing, HealthResponse> {
  return { ...health, subject: `engram.${service}.Health` };
}
