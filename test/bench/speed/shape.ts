import { SERVICE_PATHS } from '../../../services/common/domain/service-paths.ts';
import { takeOwnNames } from '../../integration/own-names.ts';

export const SHAPES = ['embedded', 'cluster'] as const;
export type ShapeName = (typeof SHAPES)[number];

/** How the service is started, and when it is ready. */
export interface Shape {
  /** Arguments of `services/start.mjs`. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Addresses that answer without an error of the server (5xx) when all services are ready. */
  readyUrls(port: number): readonly string[];
  /** Removes data on other servers while the service runs. */
  forget(baseUrl: string): Promise<void>;
  /** Removes data that is left after its end. */
  remove(): Promise<void>;
}

export function createShape(name: ShapeName): Shape {
  return name === 'embedded' ? embedded() : cluster();
}

const origin = (port: number): string => `http://127.0.0.1:${port}`;

function embedded(): Shape {
  return {
    command: [],
    environment: {},
    readyUrls: (port) => [`${origin(port)}/health`],
    forget: async () => {},
    remove: async () => {},
  };
}

/** Six processes behind the router, on the servers of `ENGRAM_TEST_…`. */
function cluster(): Shape {
  const names = takeOwnNames();
  return {
    command: ['cluster'],
    environment: { ...names.environment, HTTP_API_HOST: '127.0.0.1', ENABLE_AUTO_MIGRATIONS: 'true' },
    // The router answers 503 for a service that has not started.
    readyUrls: (port) => [
      ...Object.values(SERVICE_PATHS).map(([path]) => `${origin(port)}${path}`),
      `${origin(port)}/health`,
    ],
    async forget(baseUrl) {
      const response = await fetch(`${baseUrl}/api/v1/forget`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ everything: true }),
      });
      if (!response.ok) process.stderr.write(`bench: not forgotten: ${response.status} ${await response.text()}\n`);
    },
    remove: names.remove,
  };
}
