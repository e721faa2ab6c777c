import type { TenantId, UserId } from '../../kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

/** A document that a webhook named. */
type ReportedDocument = { readonly resource: string; readonly feed: string; readonly key: string };

type DeliveryDocument = {
  readonly connectionId: string;
  readonly tenantId: string;
  readonly userId: string;
  /** Deleted. */
  readonly gone: readonly ReportedDocument[];
  /** Changed, though their version may be the same. */
  readonly stale: readonly ReportedDocument[];
  /** Null: an import has taken up what it reports. */
  readonly waitingFor: string | null;
  readonly receivedAt: string;
};

const shared = {
  level: 'system',
  owner: 'integrations',
  writers: { auth: 'removes them in the commit that deletes the user or the tenant' },
  belongsTo: { user: 'userId', tenant: 'tenantId' },
} as const;

/** Webhooks of the last day, each once for a connection that it is about. */
export const deliveriesCollection: OwnedCollection<DeliveryDocument> = {
  name: 'source_deliveries',
  ...shared,
  indexes: [{ fields: ['waitingFor'] }, { fields: ['receivedAt'] }, { fields: ['userId'] }, { fields: ['tenantId'] }],
};

type InstallDocument = {
  readonly provider: string;
  readonly userId: UserId;
  readonly tenantId: TenantId;
  readonly keyId: string | null;
  readonly codeVerifier: string;
  readonly expiresAt: string;
};

/** Connections that were begun, by nonce: each is finished once. */
export const installsCollection: OwnedCollection<InstallDocument> = {
  name: 'source_installs',
  ...shared,
  indexes: [{ fields: ['expiresAt'] }, { fields: ['userId'] }, { fields: ['tenantId'] }],
};

interface Install extends Omit<InstallDocument, 'tenantId'> {
  readonly nonce: string;
  readonly tenant: TenantId;
}

/** An answer that its asker in a chat has neither shared nor discarded yet. */
export type SourceAnswer = {
  readonly connectionId: string;
  readonly userId: string;
  readonly tenantId: string;
  /** Who asked, by the provider's id: nobody else shares it. */
  readonly askedBy: string;
  readonly question: string;
  readonly answer: string;
  readonly facts: readonly string[];
  readonly expiresAt: string;
};

export const answersCollection: OwnedCollection<SourceAnswer> = {
  name: 'source_answers',
  ...shared,
  indexes: [{ fields: ['expiresAt'] }, { fields: ['userId'] }, { fields: ['tenantId'] }],
};

export type SourceEvents = ReturnType<typeof createSourceEvents>;

/** Messages that reach the service from providers: webhooks, and browsers that return from them. */
export function createSourceEvents(store: DocumentStore) {
  const deliveries = repository(store, deliveriesCollection, ({ id, value }) => ({ ...value, id }));
  const installs = repository(
    store,
    installsCollection,
    ({ id, value: { tenantId, ...value } }): Install => ({ ...value, nonce: id, tenant: tenantId }),
  );
  const answers = repository(store, answersCollection, ({ value }) => value);
  return {
    getAnswer: (id: string) => answers.get(SYSTEM_SCOPE, id),
    answerWrite: (id: string, answer: SourceAnswer): Write => answers.insertWrite(id, answer),
    removeAnswerWrite: (id: string): Write => answers.removeWrite(id),
    /** `DuplicateKeyError` in the commit when it was received before. */
    deliveryWrite: (id: string, delivery: Omit<DeliveryDocument, 'waitingFor'>): Write =>
      deliveries.insertWrite(id, {
        ...delivery,
        waitingFor: delivery.gone.length + delivery.stale.length === 0 ? null : delivery.connectionId,
      }),
    waiting: (connectionId: string) => deliveries.all(SYSTEM_SCOPE, { where: { waitingFor: connectionId } }),
    takenWrite: (id: string): Write => deliveries.updateWrite(id, { set: { waitingFor: null } }),
    removeOldWrite: (before: string): Write => deliveries.removeWhereWrite({ receivedAt: { lessThan: before } }),
    getInstall: (nonce: string) => installs.get(SYSTEM_SCOPE, nonce),
    installWrite: ({ nonce, tenant, ...install }: Install): Write =>
      installs.insertWrite(nonce, { ...install, tenantId: tenant }),
    /** `VersionConflictError` in the commit when it was finished already. */
    finishWrite: (nonce: string): Write => installs.removeWrite(nonce, 1),
    removeExpiredWrites: (now: string): readonly Write[] =>
      [installs, answers].map((one) => one.removeWhereWrite({ expiresAt: { lessThan: now } })),
  };
}
