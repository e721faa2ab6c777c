import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../services/common/platform/config/configuration.ts';
import { loadConfig } from '../services/common/platform/config/load-config.ts';
import { createSignedMessenger } from '../services/common/platform/messaging/signed-messenger.ts';
import type { Clock } from '../services/common/ports/system.ts';
import type { Bus } from '../services/common/storage/ports/bus.ts';
import { createBusServices as createDatasetServices } from './dataset/bus-services.ts';
import { createBusServices as createTenantServices } from './tenant/bus-services.ts';
import type { BusAddress, OpenPorts } from './tenant/dedicated/own-services.ts';

export interface OwnBusParts {
  /** Throws `ServiceUnavailableError` when the server is away. */
  connect(config: Config): Promise<Bus>;
  readonly clock: Clock;
}

/** The bus of a Dedicated tenant, by the same variables that its services have. Files are kept for as long as it is open. */
export async function openOwnBus({ settings, secrets, files }: BusAddress, parts: OwnBusParts): Promise<OpenPorts> {
  const { clock } = parts;
  const folder = Object.keys(files).length === 0 ? null : await mkdtemp(join(tmpdir(), 'engram-bus-'));
  const removeFiles = async () => {
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  };
  try {
    const paths: Record<string, string> = {};
    for (const [variable, content] of Object.entries(files)) {
      paths[variable] = join(folder ?? '', variable);
      await writeFile(paths[variable], content, { mode: 0o600 });
    }
    const bus = await parts.connect(loadConfig({ ...settings, ...secrets, ...paths }).config);
    const messenger = createSignedMessenger(bus, clock);
    return {
      tenant: createTenantServices({ messenger, clock }),
      dataset: createDatasetServices({ messenger }),
      async close() {
        await bus.drain();
        await removeFiles();
      },
    };
  } catch (error) {
    await removeFiles();
    throw error;
  }
}
