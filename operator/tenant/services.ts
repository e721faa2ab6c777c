import type { ServiceName } from '../../services/common/domain/service-paths.ts';
import type {
  SetQuotaRequest,
  UsageRequest,
  UsageResponse,
} from '../../services/common/platform/messaging/methods/auth.ts';
import type {
  EnsureTenantRequest,
  EnsureTenantResponse,
  FindManagedRequest,
  FindManagedResponse,
  ReleaseResponse,
  ReleaseTenantRequest,
  SetTenantEmbeddingRequest,
  SetTenantEmbeddingResponse,
  SetTenantKeysRequest,
  SetTenantKeysResponse,
  SetTenantModelRequest,
  SetTenantModelResponse,
} from '../../services/common/platform/messaging/methods/auth-managed.ts';
import type {
  ProbeModelRequest,
  ProbeModelResponse,
} from '../../services/common/platform/messaging/methods/cognify-managed.ts';
import type {
  CheckIsolationRequest,
  CheckIsolationResponse,
  EraseTenantRequest,
  ErasureProgress,
  RemoveCanaryRequest,
  RemoveCanaryResponse,
  SetRetentionRequest,
} from '../../services/common/platform/messaging/methods/ingest-managed.ts';

/**
 * All that the reconciler of tenants asks of the services. Everything is idempotent. Calls throw the `EngramError` of the
 * service, as the methods of the bus describe them; `ServiceUnavailableError` and `DeadlineExceededError` when it is away.
 */
export interface TenantServices {
  ensureTenant(request: EnsureTenantRequest, signal: AbortSignal): Promise<EnsureTenantResponse>;
  setTenantKeys(request: SetTenantKeysRequest, signal: AbortSignal): Promise<SetTenantKeysResponse>;
  setTenantModel(request: SetTenantModelRequest, signal: AbortSignal): Promise<SetTenantModelResponse>;
  setTenantEmbedding(request: SetTenantEmbeddingRequest, signal: AbortSignal): Promise<SetTenantEmbeddingResponse>;
  probeModel(request: ProbeModelRequest, signal: AbortSignal): Promise<ProbeModelResponse>;
  setQuota(request: SetQuotaRequest, signal: AbortSignal): Promise<void>;
  usage(request: UsageRequest, signal: AbortSignal): Promise<UsageResponse['usage']>;
  setRetention(request: SetRetentionRequest, signal: AbortSignal): Promise<void>;
  eraseTenant(request: EraseTenantRequest, signal: AbortSignal): Promise<ErasureProgress>;
  findManaged(request: FindManagedRequest, signal: AbortSignal): Promise<FindManagedResponse['managed']>;
  releaseTenant(request: ReleaseTenantRequest, signal: AbortSignal): Promise<ReleaseResponse>;
  checkIsolation(request: CheckIsolationRequest, signal: AbortSignal): Promise<CheckIsolationResponse>;
  removeCanary(request: RemoveCanaryRequest, signal: AbortSignal): Promise<RemoveCanaryResponse>;
  /** Services that do not answer or cannot reach their stores, sorted. May be some seconds old. */
  unhealthy(signal: AbortSignal): Promise<readonly ServiceName[]>;
}
