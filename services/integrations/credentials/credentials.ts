import { setTimeout as sleep } from 'node:timers/promises';
import { ignoreConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { isLeased } from '../../common/platform/leases/lease.ts';
import type { SecretBox } from '../../common/ports/secret-box.ts';
import type { Clock, UuidSource } from '../../common/ports/system.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import {
  createCredentialRecords,
  type StoredCredential,
  tokensPlace,
} from '../../common/records/integrations/credentials.ts';
import type { DocumentStore, Write } from '../../common/storage/ports/document-store.ts';
import { type Connector, SourceRevokedError, type Tokens } from '../providers/connector.ts';
import { InvalidGrantError } from './token-endpoint.ts';

/** Tokens are exchanged so long before they expire. */
const BEFORE_MS = 5 * 60_000;
/** A process that has not exchanged them by then is gone: the request to the provider ends before. */
const LEASE_MS = 60_000;
const WAIT_MS = 200;

export type Credentials = ReturnType<typeof createCredentials>;

type Owner = Pick<SourceConnection, 'id' | 'userId' | 'tenant'>;

interface CredentialsDependencies {
  readonly store: DocumentStore;
  readonly secretBox: SecretBox;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: UuidSource;
}

/** Keeps the tokens of connections sealed, and exchanges them in time, one process at a time. */
export function createCredentials({ store, secretBox, clock, ids }: CredentialsDependencies) {
  const records = createCredentialRecords(store);
  const seal = (owner: Owner, tokens: Tokens) => secretBox.seal(JSON.stringify(tokens), tokensPlace(owner.id));
  const commit = ({ tenant }: Owner, write: Write) => ignoreConflict(store.commit({ tenant }, [write]));

  /** Exchanges the tokens under the lease; null: another process was faster. */
  const exchange = async (owner: Owner, stored: StoredCredential, refresh: () => Promise<Tokens>) => {
    const holder = ids.uuid();
    const lease = { holder, leasedUntilMs: clock.now().getTime() + LEASE_MS };
    if (!(await commit(owner, records.claimWrite(owner.id, stored, lease)))) return null;
    try {
      const tokens = await refresh();
      const sealed = { sealed: await seal(owner, tokens), expiresAt: tokens.expiresAt };
      await commit(owner, records.releaseWrite(owner.id, holder, sealed));
      return tokens;
    } catch (error) {
      if (error instanceof InvalidGrantError) {
        throw new SourceRevokedError('The provider no longer accepts the connection. Connect it again.', {
          cause: error,
        });
      }
      await commit(owner, records.releaseWrite(owner.id, holder));
      throw error;
    }
  };

  return {
    /** The write that stores the tokens of a connection in the commit of the connection itself. */
    async storeWrite(owner: Owner, tokens: Tokens): Promise<Write> {
      const { userId, tenant: tenantId } = owner;
      const credential = { userId, tenantId, sealed: await seal(owner, tokens), expiresAt: tokens.expiresAt };
      return records.putWrite(owner.id, credential, await records.get(owner.id));
    },
    removeWrite: (connectionId: string): Write => records.removeWrite(connectionId),
    /**
     * An access token that is valid for some minutes, and not the one that the provider has `rejected` before its time.
     * `SourceRevokedError` when there is none, or the provider gives no new one; other errors when it could not be asked and the
     * present one has expired.
     */
    async accessToken(
      connection: SourceConnection,
      connector: Connector,
      { signal, rejected }: { readonly signal: AbortSignal; readonly rejected?: string | undefined },
    ): Promise<string> {
      for (;;) {
        signal.throwIfAborted();
        const stored = await records.get(connection.id);
        if (stored === null) throw new SourceRevokedError('There are no tokens of the connection. Connect it again.');
        const tokens = JSON.parse(await secretBox.open(stored.sealed, tokensPlace(connection.id))) as Tokens;
        const now = clock.now().getTime();
        const { accessToken, expiresAt, refreshToken } = tokens;
        const expiryMs = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
        const leftMs = accessToken === rejected ? 0 : expiryMs - now;
        const refresh = connector.oauth?.refresh;
        if (leftMs > BEFORE_MS || refreshToken === null || refresh === undefined) {
          // The root key has changed since: an old one can be removed once nothing is sealed under it.
          if (!(await secretBox.isCurrent(stored.sealed)))
            await commit(connection, records.resealWrite(connection.id, stored.sealed, await seal(connection, tokens)));
          return tokens.accessToken;
        }
        if (!isLeased(stored, now)) {
          const renewed = await exchange(connection, stored, () => refresh(refreshToken, signal)).catch(
            (error: unknown) => {
              if (leftMs <= 0 || error instanceof SourceRevokedError) throw error;
              return tokens;
            },
          );
          if (renewed !== null) return renewed.accessToken;
        } else if (leftMs > 0) return tokens.accessToken;
        await sleep(WAIT_MS, undefined, { signal });
      }
    },
  };
}
