import type { UserId } from '../../common/kernel/brand.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import {
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  replace,
  type Stored,
  type Write,
} from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** A sign-in of a program without a browser (RFC 8628). Of its two codes only hashes are stored. */
export type DeviceSignIn = {
  readonly userCode: string;
  readonly clientId: string;
  readonly deviceName: string | null;
  /** Address of the program. */
  readonly address: string;
  readonly state: 'pending' | 'approved' | 'denied';
  readonly decidedBy: UserId | null;
  readonly intervalSeconds: number;
  readonly polledAtMs: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
};

export const deviceSignInsCollection: OwnedCollection<DeviceSignIn> = {
  name: 'device_sign_ins',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'decidedBy' },
  indexes: [{ fields: ['userCode'], unique: true }, { fields: ['expiresAtMs'] }, { fields: ['decidedBy'] }],
};

/** How long a sign-in that expired is kept, so that its program reads why it was refused. */
const KEPT_MS = 600_000;

/** Sign-ins by the code of the program, or by the one that its user sees. */
export function createDeviceSignIns(store: DocumentStore) {
  return {
    /** Also removes old ones. `DuplicateKeyError` when the user code is taken. */
    async add(deviceCode: string, userCode: string, signIn: Omit<DeviceSignIn, 'userCode'>): Promise<void> {
      await store.commit(SYSTEM_SCOPE, [
        removeWhere(deviceSignInsCollection, { expiresAtMs: { lessThan: signIn.createdAtMs - KEPT_MS } }),
        insert(deviceSignInsCollection, digest(deviceCode), { ...signIn, userCode: digest(userCode) }),
      ]);
    },
    byDeviceCode: (code: string) => store.get(SYSTEM_SCOPE, deviceSignInsCollection, digest(code)),
    async byUserCode(code: string): Promise<Stored<DeviceSignIn> | null> {
      const where = { userCode: digest(code) };
      return (await store.find(SYSTEM_SCOPE, deviceSignInsCollection, { where, limit: 1 })).items[0] ?? null;
    },
    /** `VersionConflictError` when it has changed since it was read. */
    async change({ id, value, version }: Stored<DeviceSignIn>, changes: Partial<DeviceSignIn>): Promise<void> {
      await store.commit(SYSTEM_SCOPE, [replace(deviceSignInsCollection, id, { ...value, ...changes }, version)]);
    },
    removeWrite: ({ id, version }: Stored<DeviceSignIn>): Write => remove(deviceSignInsCollection, id, version),
  };
}

function digest(code: string): string {
  return sha256(code);
}
