import { SERVICE_NAMES, type ServiceName } from '../common/domain/service-paths.ts';
import type { App } from '../common/platform/http/app.ts';
import type { HealthCheck, HealthChecks } from '../common/platform/http/health-probe.ts';
import type { OpenApiDocument } from '../common/platform/http/openapi.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import { isBuilt } from './registry.ts';

/** `auth` speaks for the whole of a cluster: these are the services that it has to ask. */
interface OtherServices {
  readonly health: HealthChecks;
  /** OpenAPI documents of those that answer. */
  describe(): Promise<readonly OpenApiDocument[]>;
}

const NONE: OtherServices = { health: {}, describe: async () => [] };

export function otherServices(local: readonly ServiceName[], messenger: Messenger): OtherServices {
  const names = SERVICE_NAMES.filter((name) => isBuilt(name) && !local.includes(name));
  if (!local.includes('auth') || names.length === 0) return NONE;
  const context = () => ({ requestId: '' });
  return {
    health: Object.fromEntries(names.map((name) => [name, healthOf(name, messenger)])),
    async describe() {
      const asked = names.map((name) => messenger.call(`${name}.Describe`, {}, context()));
      const answers = await Promise.allSettled(asked);
      return answers.flatMap((answer) =>
        answer.status === 'fulfilled' ? [JSON.parse(answer.value.openapi) as OpenApiDocument] : [],
      );
    },
  };
}

function healthOf(name: ServiceName, messenger: Messenger): HealthCheck {
  return {
    critical: true,
    async check() {
      const { status } = await messenger.call(`${name}.Health`, {}, { requestId: '' });
      // A state of another release is no good news.
      const isGood = status === 'healthy' || status === 'degraded';
      return {
        status: isGood ? status : 'unhealthy',
        provider: 'service',
        details: status === 'healthy' ? 'A replica can serve' : `It is ${status}`,
      };
    },
  };
}

/** Answers for the services of this process. */
export function answerForServices(
  names: readonly ServiceName[],
  app: App,
  messenger: Messenger,
): Promise<readonly Subscription[]> {
  return Promise.all(
    names.flatMap((name) => [
      messenger.serve(`${name}.Describe`, async () => ({ openapi: JSON.stringify(app.describe()) })),
      messenger.serve(`${name}.Health`, async () => ({ status: await app.state() })),
    ]),
  );
}
