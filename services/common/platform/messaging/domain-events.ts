import { create, type DescMessage, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf';
import {
  AccessGrantedSchema,
  AccessRevokedSchema,
  BudgetExceededSchema,
  BudgetWarnedSchema,
  CapabilityGrantedSchema,
  CapabilityRevokedSchema,
  DatasetCreatedSchema,
  DatasetReassignedSchema,
  DatasetRemovedSchema,
  type DomainEvent,
  DomainEventSchema,
  ItemAddedSchema,
  ItemForgottenSchema,
  ItemUpdatedSchema,
  MembershipAddedSchema,
  MembershipRemovedSchema,
  RoleAssignedSchema,
  RoleCreatedSchema,
  RoleDeletedSchema,
  RoleUnassignedSchema,
  RunCompletedSchema,
  RunErroredSchema,
  RunStartedSchema,
  SyncEndedSchema,
  SyncStartedSchema,
  TenantCreatedSchema,
  TenantErasedSchema,
  TenantReassignedSchema,
  UserDeletedSchema,
  UserRegisteredSchema,
} from '../../../../proto/gen/engram/events/v1/events_pb.ts';
import type { LoggedEvent } from '../../ports/event-log.ts';
import type { Codec } from './codec.ts';

type DataCase = Exclude<DomainEvent['data']['case'], undefined>;

/** Type of the log → field of `DomainEvent.data` and its message. */
export const DOMAIN_EVENTS = {
  'budget.exceeded': { field: 'budgetExceeded', schema: BudgetExceededSchema },
  'budget.warned': { field: 'budgetWarned', schema: BudgetWarnedSchema },
  'user.registered': { field: 'userRegistered', schema: UserRegisteredSchema },
  'user.deleted': { field: 'userDeleted', schema: UserDeletedSchema },
  'dataset.reassigned': { field: 'datasetReassigned', schema: DatasetReassignedSchema },
  'tenant.reassigned': { field: 'tenantReassigned', schema: TenantReassignedSchema },
  'tenant.erased': { field: 'tenantErased', schema: TenantErasedSchema },
  'dataset.created': { field: 'datasetCreated', schema: DatasetCreatedSchema },
  'dataset.removed': { field: 'datasetRemoved', schema: DatasetRemovedSchema },
  'item.added': { field: 'itemAdded', schema: ItemAddedSchema },
  'item.updated': { field: 'itemUpdated', schema: ItemUpdatedSchema },
  'item.forgotten': { field: 'itemForgotten', schema: ItemForgottenSchema },
  'run.started': { field: 'runStarted', schema: RunStartedSchema },
  'run.completed': { field: 'runCompleted', schema: RunCompletedSchema },
  'run.errored': { field: 'runErrored', schema: RunErroredSchema },
  'sync.started': { field: 'syncStarted', schema: SyncStartedSchema },
  'sync.ended': { field: 'syncEnded', schema: SyncEndedSchema },
  'tenant.created': { field: 'tenantCreated', schema: TenantCreatedSchema },
  'membership.added': { field: 'membershipAdded', schema: MembershipAddedSchema },
  'membership.removed': { field: 'membershipRemoved', schema: MembershipRemovedSchema },
  'role.created': { field: 'roleCreated', schema: RoleCreatedSchema },
  'role.deleted': { field: 'roleDeleted', schema: RoleDeletedSchema },
  'role.assigned': { field: 'roleAssigned', schema: RoleAssignedSchema },
  'role.unassigned': { field: 'roleUnassigned', schema: RoleUnassignedSchema },
  'access.granted': { field: 'accessGranted', schema: AccessGrantedSchema },
  'access.revoked': { field: 'accessRevoked', schema: AccessRevokedSchema },
  'capability.granted': { field: 'capabilityGranted', schema: CapabilityGrantedSchema },
  'capability.revoked': { field: 'capabilityRevoked', schema: CapabilityRevokedSchema },
} as const satisfies Readonly<Record<string, { readonly field: DataCase; readonly schema: DescMessage }>>;

/**
 * Events of the log as `engram.events.v1.DomainEvent`. The log keeps an event's data as ProtoJSON of its message: `encode`
 * throws for a type that `events.proto` does not have, and for data that is not as it says.
 */
export const domainEventCodec: Codec<LoggedEvent> = {
  encode(event) {
    const { offset, id, type, subjectId, tenant, dataset, occurredAt } = event;
    const { field, schema } = eventOf(type);
    const value = fromJson(schema, event.data as JsonObject);
    return toBinary(
      DomainEventSchema,
      create(DomainEventSchema, {
        ...{ offset: BigInt(offset), id, type, subjectId, tenant, datasetId: dataset ?? undefined, occurredAt },
        data: { case: field, value } as DomainEvent['data'],
      }),
    );
  },
  decode(payload) {
    const { offset, id, type, subjectId, tenant, datasetId, occurredAt, data } = fromBinary(DomainEventSchema, payload);
    const { schema, field } = eventOf(type);
    if (data.case !== field) throw new Error(`an event of type ${type} carries ${data.case ?? 'nothing'}`);
    return {
      ...{ offset: Number(offset), id, type, subjectId, tenant, dataset: datasetId ?? null, occurredAt },
      data: toJson(schema, data.value, { alwaysEmitImplicit: true }) as JsonObject,
    };
  },
};

function eventOf(type: string): { readonly field: DataCase; readonly schema: DescMessage } {
  const known = (DOMAIN_EVENTS as Readonly<Record<string, { readonly field: DataCase; readonly schema: DescMessage }>>)[
    type
  ];
  if (known === undefined) throw new Error(`proto/engram/events/v1/events.proto has no event ${type}`);
  return known;
}
