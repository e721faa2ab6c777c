// Made from crds/tenants.engram.dev.yaml by `npm run generate`. Do not edit.
import type { Condition } from '../kube-runtime/conditions.ts';
import type { CustomObject, ResourceKind } from '../kube-runtime/kube-object.ts';

export type Tenant = CustomObject<TenantSpec, Partial<TenantStatus>>;

export const TENANT_KIND = {
  apiVersion: 'engram.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  namespaced: true,
} as const satisfies ResourceKind;

/**
 * Desired state of the tenant.
 */
export interface TenantSpec {
  /**
   * The tenant's name as people see it. Absent, it is the name of the resource.
   */
  readonly displayName?: string;
  /**
   * Id of a tenant that exists already, to take it over with its data as it is. Absent, a tenant is made. It cannot be changed once it is set. A tenant that another resource stands for is not taken over. Any other one is by a Tenant of the same namespace and name as the one that kept it with `Retain`; by others in the operator's namespace alone, and in those that `operator.trustedNamespaces` of the chart names.
   */
  readonly tenantId?: string;
  /**
   * `Active` serves. `Hibernated` answers every request with 503 and keeps data, keys and route. `Disabled` revokes the API keys as well; they are valid again, with the same values, when the tenant is active again.
   */
  readonly state: 'Active' | 'Hibernated' | 'Disabled';
  /**
   * Leaves everything as it is while true: nothing is corrected, rotated or changed. The tenant itself goes on serving. Deletion is not held up.
   */
  readonly suspend: boolean;
  /**
   * `Shared`: the tenant uses the services and stores of the installation, apart by tenant id. `Dedicated`: it has services of its own in the namespace of the resource, with databases, indexes, subjects and users of its own on the installation's servers, where the operator was given their administrators (`operator.dedicated` of the chart). It cannot be changed.
   */
  readonly isolation: 'Shared' | 'Dedicated';
  /**
   * The least that every store must offer, from weak to strong: `Label` (rows carry the tenant's id), `Index` (an index of its own), `Database` (a database of its own), `Cluster` (servers of its own). A store that offers less stalls the tenant with reason `IsolationUnsupported`, before anything is made. What each store offers is in `status.stores`.
   */
  readonly minimumIsolation: 'Label' | 'Index' | 'Database' | 'Cluster';
  readonly owner: TenantOwner;
  /**
   * API keys that act as the owner in this tenant and nowhere else, each in a Secret of its own. A key that is taken out of the list is revoked.
   */
  readonly apiKeys?: readonly TenantApiKey[];
  readonly llm?: TenantLlm;
  readonly embedding?: TenantEmbedding;
  readonly quotas?: TenantQuotas;
  readonly datasets: TenantDatasets;
  readonly routing?: TenantRouting;
  readonly scaling?: TenantScaling;
  readonly resources?: TenantResources;
  readonly storeLogins?: TenantStoreLogins;
  readonly network?: TenantNetwork;
  readonly retention?: TenantRetention;
  readonly hibernation?: TenantHibernation;
  readonly isolationCheck?: TenantIsolationCheck;
  readonly backup?: TenantBackup;
  /**
   * Handling of the data when the resource is deleted. `Retain`: everything is kept, Secrets too, and another Tenant with this `tenantId` takes it over. `Delete`: everything is erased in every store and counted; the resource goes when nothing is left, and a signed receipt stays in a ConfigMap. `Snapshot`: once nobody can write any more, every dataset of the tenant is snapshot into the bucket of `backup.destinationRef` and read again, also those that no Dataset stands for; when all of them are there, everything is erased as by `Delete`, and the receipt names the snapshots and the id of the tenant, from which a Dataset of another Tenant in this namespace is made (`source`). An erasure that has begun is carried out, whatever is said here then; while it waits for snapshots, `Delete` does without them.
   */
  readonly deletionPolicy: 'Retain' | 'Delete' | 'Snapshot';
  /**
   * Handling of Dataset resources of this tenant when it is deleted. `Block`: the deletion waits until there are none. `Cascade`: they are deleted first, each by its own policy; one that has none is left to the tenant where that goes by `Snapshot`.
   */
  readonly datasetDeletion: 'Block' | 'Cascade';
}

/**
 * The account that owns the tenant. It is made if it does not exist.
 */
export interface TenantOwner {
  /**
   * Address that the owner signs in with.
   */
  readonly email: string;
  readonly passwordSecretRef?: TenantOwnerPasswordSecretRef;
}

/**
 * A Secret of the same namespace with the password under `password`. Absent, a password is generated into the Secret `<name of the resource>-owner`, under `email` and `password`. It is the password of a new account; an account that exists keeps its own.
 */
export interface TenantOwnerPasswordSecretRef {
  /**
   * Name of the Secret.
   */
  readonly name: string;
  /**
   * Key in the Secret.
   */
  readonly key: string;
}

export interface TenantApiKey {
  /**
   * The key's name, unique in the tenant.
   */
  readonly name: string;
  /**
   * The Secret with the key under `apiKey` and, while a rotation overlaps, the former one under `previousApiKey`. It is made if it does not exist. A value that somebody else writes there becomes the key: 64 lower-case hexadecimal digits, as `openssl rand -hex 32` prints them. A Secret that the operator did not make is read and never written.
   */
  readonly secretName: string;
  readonly rotation?: TenantApiKeyRotation;
}

/**
 * Absent, the key is rotated only on demand (annotation `engram.dev/rotate-at`).
 */
export interface TenantApiKeyRotation {
  /**
   * How long a key is the current one, for example `2160h` (90 days).
   */
  readonly interval: string;
  /**
   * How long the former key stays valid after a rotation. `0s` revokes it at once. It holds for rotations on demand, too.
   */
  readonly overlap: string;
}

/**
 * A language model on an account of the tenant's own, for its runs, searches and improvement, from the next one on. It is asked for one word before it is used. Absent, the tenant uses the server's.
 */
export interface TenantLlm {
  /**
   * Who serves the model, as in `LLM_PROVIDER`.
   */
  readonly provider: string;
  /**
   * Name of the model, as the provider spells it.
   */
  readonly model: string;
  /**
   * Base URL of the provider, where it is not its usual one: public, or on a host that `ENGRAM_TENANT_MODEL_HOSTS` of the services names.
   */
  readonly endpoint?: string;
  readonly apiKeySecretRef?: TenantLlmApiKeySecretRef;
}

/**
 * A Secret of the same namespace with the key of the account.
 */
export interface TenantLlmApiKeySecretRef {
  /**
   * Name of the Secret.
   */
  readonly name: string;
  /**
   * Key in the Secret.
   */
  readonly key: string;
}

/**
 * An embedding model on an account of the tenant's own, which is asked for one vector before it is used. Absent, the tenant uses the server's. New datasets get its vectors; those of a Dataset resource that have others are moved to it in the background, see `status.migration` of the Dataset.
 */
export interface TenantEmbedding {
  /**
   * Who serves the model, as in `EMBEDDING_PROVIDER`; `builtin` is the server's own `hashing-v1`.
   */
  readonly provider: string;
  /**
   * Name of the model, as the provider spells it.
   */
  readonly model: string;
  /**
   * How many numbers its vectors have.
   */
  readonly dimensions: number;
  /**
   * Base URL of the provider, where it is not its usual one: public, or on a host that `ENGRAM_TENANT_MODEL_HOSTS` of the services names.
   */
  readonly endpoint?: string;
  readonly apiKeySecretRef?: TenantEmbeddingApiKeySecretRef;
}

/**
 * A Secret of the same namespace with the key of the account.
 */
export interface TenantEmbeddingApiKeySecretRef {
  /**
   * Name of the Secret.
   */
  readonly name: string;
  /**
   * Key in the Secret.
   */
  readonly key: string;
}

/**
 * The tenant's budget, enforced by the services before the work. A limit that is absent is the server's default.
 */
export interface TenantQuotas {
  /**
   * Greatest number of datasets.
   */
  readonly datasets?: number;
  /**
   * Greatest number of data items.
   */
  readonly items?: number;
  /**
   * Greatest size of stored files, a quantity such as `200Gi` or `500M`.
   */
  readonly storage?: string;
  /**
   * Requests per minute.
   */
  readonly requestsPerMinute?: number;
  /**
   * Language-model tokens per day, UTC.
   */
  readonly llmTokensPerDay?: number;
  /**
   * Language-model tokens per month, UTC.
   */
  readonly llmTokensPerMonth?: number;
  /**
   * Runs at the same time.
   */
  readonly concurrentRuns?: number;
  /**
   * `Enforce` refuses what goes beyond a limit. `Warn` lets it through and says so (condition `QuotaExceeded`, event log).
   */
  readonly action: 'Enforce' | 'Warn';
}

/**
 * Namespaces in which Dataset resources of this tenant may be.
 */
export interface TenantDatasets {
  readonly allowedNamespaces: TenantDatasetsAllowedNamespaces;
}

/**
 * Namespaces that Datasets of this tenant are taken from.
 */
export interface TenantDatasetsAllowedNamespaces {
  /**
   * `Same`: the namespace of the Tenant. `All`: every namespace. `Selector`: those whose labels match `selector`.
   */
  readonly from: 'Same' | 'All' | 'Selector';
  readonly selector?: TenantDatasetsAllowedNamespacesSelector;
}

/**
 * Labels of the namespaces, as in any Kubernetes selector.
 */
export interface TenantDatasetsAllowedNamespacesSelector {
  /**
   * Labels that a namespace must have, with exactly these values.
   */
  readonly matchLabels?: {
    readonly [k: string]: string;
  };
  /**
   * Conditions on labels that must all hold.
   */
  readonly matchExpressions?: readonly TenantDatasetsAllowedNamespacesSelectorMatchExpression[];
}

export interface TenantDatasetsAllowedNamespacesSelectorMatchExpression {
  /**
   * Name of the label.
   */
  readonly key: string;
  /**
   * How the label is compared.
   */
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /**
   * Values for `In` and `NotIn`.
   */
  readonly values?: readonly string[];
}

/**
 * How requests from outside reach the tenant. Absent, no route is made.
 */
export interface TenantRouting {
  /**
   * `Ingress` or `HTTPRoute` (Gateway API): the object is made beside the services, in their namespace, and routes every path to the service that answers it. `None`: no object, but `hostname` still selects the tenant, for routes of your own.
   */
  readonly type: 'None' | 'Ingress' | 'HTTPRoute';
  /**
   * Host name that selects the tenant. Keys of other tenants are refused there. No two tenants have the same one.
   */
  readonly hostname?: string;
  /**
   * Class of the Ingress. Absent, the cluster's default class.
   */
  readonly ingressClassName?: string;
  /**
   * Secret of type kubernetes.io/tls beside the services, for an Ingress with TLS. Its name begins with the namespace of the Tenant and a dot, `memory.acme-tls`, so that nobody uses the certificate of another namespace; in the operator's namespace and those that `operator.trustedNamespaces` of the chart names, and for Dedicated tenants, any name will do.
   */
  readonly tlsSecretName?: string;
  /**
   * Gateways that the HTTPRoute is attached to.
   */
  readonly parentRefs?: readonly TenantRoutingParentRef[];
  /**
   * Annotations of the Ingress or HTTPRoute, for example for a certificate issuer. Those with snippets of configuration are refused: they run in the controller, which serves other tenants too.
   */
  readonly annotations?: {
    readonly [k: string]: string;
  };
}

export interface TenantRoutingParentRef {
  /**
   * Name of the Gateway.
   */
  readonly name: string;
  /**
   * Namespace of the Gateway. Absent, that of the Tenant.
   */
  readonly namespace?: string;
  /**
   * Name of the Gateway's listener. Absent, all that take the host name.
   */
  readonly sectionName?: string;
}

/**
 * How many pods the services of a Dedicated tenant have, each by its load. A service that is not named has one pod.
 */
export interface TenantScaling {
  readonly auth?: TenantScalingAuth;
  readonly ingest?: TenantScalingIngest;
  readonly cognify?: TenantScalingCognify;
  readonly improve?: TenantScalingImprove;
  readonly search?: TenantScalingSearch;
  readonly integrations?: TenantScalingIntegrations;
}

/**
 * Pods of auth.
 */
export interface TenantScalingAuth {
  /**
   * Least pods.
   */
  readonly min: number;
  /**
   * Most pods.
   */
  readonly max: number;
  /**
   * Share of the requested processor time, in percent, that is aimed at.
   */
  readonly targetCPU: number;
}

/**
 * Pods of ingest.
 */
export interface TenantScalingIngest {
  /**
   * Least pods.
   */
  readonly min: number;
  /**
   * Most pods.
   */
  readonly max: number;
  /**
   * Share of the requested processor time, in percent, that is aimed at.
   */
  readonly targetCPU: number;
}

/**
 * Pods of cognify.
 */
export interface TenantScalingCognify {
  /**
   * Least pods.
   */
  readonly min: number;
  /**
   * Most pods.
   */
  readonly max: number;
  /**
   * Share of the requested processor time, in percent, that is aimed at.
   */
  readonly targetCPU: number;
}

/**
 * Pods of improve.
 */
export interface TenantScalingImprove {
  /**
   * Least pods.
   */
  readonly min: number;
  /**
   * Most pods.
   */
  readonly max: number;
  /**
   * Share of the requested processor time, in percent, that is aimed at.
   */
  readonly targetCPU: number;
}

/**
 * Pods of search.
 */
export interface TenantScalingSearch {
  /**
   * Least pods.
   */
  readonly min: number;
  /**
   * Most pods.
   */
  readonly max: number;
  /**
   * Share of the requested processor time, in percent, that is aimed at.
   */
  readonly targetCPU: number;
}

/**
 * Pods of integrations.
 */
export interface TenantScalingIntegrations {
  /**
   * Least pods.
   */
  readonly min: number;
  /**
   * Most pods.
   */
  readonly max: number;
  /**
   * Share of the requested processor time, in percent, that is aimed at.
   */
  readonly targetCPU: number;
}

/**
 * Resource requests and limits of the pods of a Dedicated tenant, service by service. The rest is as `defaults.resources` of the chart says.
 */
export interface TenantResources {
  readonly auth?: TenantResourcesAuth;
  readonly ingest?: TenantResourcesIngest;
  readonly cognify?: TenantResourcesCognify;
  readonly improve?: TenantResourcesImprove;
  readonly search?: TenantResourcesSearch;
  readonly integrations?: TenantResourcesIntegrations;
}

/**
 * Resources of each pod of auth.
 */
export interface TenantResourcesAuth {
  readonly requests?: TenantResourcesAuthRequests;
  readonly limits?: TenantResourcesAuthLimits;
}

/**
 * Resources requested for it.
 */
export interface TenantResourcesAuthRequests {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * The most that it may use.
 */
export interface TenantResourcesAuthLimits {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * Resources of each pod of ingest.
 */
export interface TenantResourcesIngest {
  readonly requests?: TenantResourcesIngestRequests;
  readonly limits?: TenantResourcesIngestLimits;
}

/**
 * Resources requested for it.
 */
export interface TenantResourcesIngestRequests {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * The most that it may use.
 */
export interface TenantResourcesIngestLimits {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * Resources of each pod of cognify.
 */
export interface TenantResourcesCognify {
  readonly requests?: TenantResourcesCognifyRequests;
  readonly limits?: TenantResourcesCognifyLimits;
}

/**
 * Resources requested for it.
 */
export interface TenantResourcesCognifyRequests {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * The most that it may use.
 */
export interface TenantResourcesCognifyLimits {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * Resources of each pod of improve.
 */
export interface TenantResourcesImprove {
  readonly requests?: TenantResourcesImproveRequests;
  readonly limits?: TenantResourcesImproveLimits;
}

/**
 * Resources requested for it.
 */
export interface TenantResourcesImproveRequests {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * The most that it may use.
 */
export interface TenantResourcesImproveLimits {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * Resources of each pod of search.
 */
export interface TenantResourcesSearch {
  readonly requests?: TenantResourcesSearchRequests;
  readonly limits?: TenantResourcesSearchLimits;
}

/**
 * Resources requested for it.
 */
export interface TenantResourcesSearchRequests {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * The most that it may use.
 */
export interface TenantResourcesSearchLimits {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * Resources of each pod of integrations.
 */
export interface TenantResourcesIntegrations {
  readonly requests?: TenantResourcesIntegrationsRequests;
  readonly limits?: TenantResourcesIntegrationsLimits;
}

/**
 * Resources requested for it.
 */
export interface TenantResourcesIntegrationsRequests {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * The most that it may use.
 */
export interface TenantResourcesIntegrationsLimits {
  /**
   * Processors, for example `500m`.
   */
  readonly cpu?: string;
  /**
   * Memory, for example `512Mi`.
   */
  readonly memory?: string;
}

/**
 * Store logins of the services of a Dedicated tenant, where these know users of its own (condition `StoreLoginsReady`). Absent, they change only on demand (annotation `engram.dev/rotate-stores-at`).
 */
export interface TenantStoreLogins {
  readonly rotation: TenantStoreLoginsRotation;
}

/**
 * New logins are made beside the former ones and given to new pods one after the other; the former ones end when no pod is left that has them.
 */
export interface TenantStoreLoginsRotation {
  /**
   * How long logins are the current ones, for example `720h` (30 days).
   */
  readonly interval: string;
}

/**
 * Network access from and to the pods of a Dedicated tenant. Absent, it is `Managed`.
 */
export interface TenantNetwork {
  /**
   * `Managed`: NetworkPolicies that let in the ingress controller (`networkPolicy.clients` of the chart), and out to each other, names, the stores and what `egress` says. `None`: no NetworkPolicy.
   */
  readonly policy: 'Managed' | 'None';
  readonly egress?: TenantNetworkEgress;
}

/**
 * Further targets that the pods may reach: models, pages given as data. Absent, port 443 of every address.
 */
export interface TenantNetworkEgress {
  /**
   * Ranges of addresses, every port of them. Empty, nothing but the stores.
   */
  readonly allowCIDRs: readonly string[];
}

/**
 * How long the tenant keeps what it has. What is absent is as the settings of the services say.
 */
export interface TenantRetention {
  /**
   * Days after the last use of a session at which its entries go, once they are in the memory of its dataset. Absent, `SESSION_TTL_SECONDS` of the services.
   */
  readonly sessionsDays?: number;
  /**
   * Days after which domain events leave the event log, if Kafka has them where there is one. Absent, they stay.
   */
  readonly eventsDays?: number;
}

/**
 * Hibernates an active tenant that nobody uses: no request with a valid credential, and no run. What an open page asks for again and again (who it is, states, activity) is no use, nor is an open socket. Data, keys, route and the desired state stay. The services of a Dedicated tenant end meanwhile. Absent, it stays awake.
 */
export interface TenantHibernation {
  /**
   * So long without use, for example `72h`.
   */
  readonly afterIdle: string;
  /**
   * `OnRequest`: the next request with a valid credential wakes it and is answered; where services have to start, requests are answered 503 with `Retry-After` meanwhile. `Manual`: requests are answered 503 until the annotation `engram.dev/wake-at` has a new value.
   */
  readonly wake: 'OnRequest' | 'Manual';
}

/**
 * That no other tenant sees anything of this one is looked at all the time, by a fact in the tenant's memory that nobody sees (condition `IsolationVerified`). Absent, a leak is reported.
 */
export interface TenantIsolationCheck {
  /**
   * Handling of the tenant when a leak is found, until it is over. `Report`: it is not Ready, and goes on serving. `Fence`: requests are answered 503 as well.
   */
  readonly onLeak: 'Report' | 'Fence';
}

/**
 * Snapshots of every dataset of the tenant that a Dataset resource stands for. Each is of one moment, while the dataset goes on being used, and a Dataset with `source.snapshotRef` is made from it.
 */
export interface TenantBackup {
  /**
   * When. Five fields of cron, UTC: minute, hour, day of month, month, day of week.
   */
  readonly schedule: string;
  /**
   * How many of each dataset are kept; older ones are removed.
   */
  readonly keep: number;
  readonly destinationRef?: TenantBackupDestinationRef;
}

/**
 * A Secret of the same namespace that says where: `bucket`, `accessKey`, `secretKey`, and as needed `endpoint` (absent: AWS), `region` (absent: us-east-1), `prefix`. Without it they are in the blob store of the installation, and go with the tenant.
 */
export interface TenantBackupDestinationRef {
  /**
   * Name of the Secret.
   */
  readonly name: string;
}

/**
 * Observed state of the tenant, written by the operator.
 */
export interface TenantStatus {
  /**
   * The generation of the resource that this status speaks of.
   */
  readonly observedGeneration?: number;
  /**
   * State in effect: `spec.state`, unless something prevents it: `Hibernated` where nobody used it, as of the last check; `Fenced` answers requests with 503 while a leak is not over.
   */
  readonly state?: 'Active' | 'Hibernated' | 'Disabled' | 'Fenced' | undefined;
  /**
   * Other tenants whose memory is not apart from this one's, as the last check found it.
   */
  readonly leaks?: readonly TenantStatusLeak[] | undefined;
  /**
   * The last value of the annotation `engram.dev/reconcile-at` that was acted on.
   */
  readonly lastHandledReconcileAt?: string;
  /**
   * The last value of the annotation `engram.dev/wake-at` that was acted on.
   */
  readonly lastHandledWakeAt?: string | undefined;
  readonly waking?: TenantStatusWaking | undefined;
  /**
   * The last value of the annotation `engram.dev/rotate-at` that was acted on.
   */
  readonly lastHandledRotateAt?: string | undefined;
  /**
   * The last value of the annotation `engram.dev/rotate-stores-at` that was acted on.
   */
  readonly lastHandledRotateStoresAt?: string | undefined;
  /**
   * Id of the tenant in Engram.
   */
  readonly tenantId?: string | undefined;
  /**
   * Id of the owner's account.
   */
  readonly ownerId?: string | undefined;
  /**
   * Address at which the tenant answers, while it has a route.
   */
  readonly url?: string | undefined;
  /**
   * Secrets that the operator uses, and what it knows of them. Never a value.
   */
  readonly secrets?: readonly TenantStatusSecret[] | undefined;
  readonly languageModel?: TenantStatusLanguageModel | undefined;
  readonly embedding?: TenantStatusEmbedding | undefined;
  /**
   * The stores of the tenant, with the isolation that each of them really offers.
   */
  readonly stores?: readonly TenantStatusStore[] | undefined;
  /**
   * Part of all names of a Dedicated tenant in stores.
   */
  readonly realm?: string | undefined;
  readonly usage?: TenantStatusUsage | undefined;
  readonly routeObject?: TenantStatusRouteObject | undefined;
  readonly erasure?: TenantStatusErasure | undefined;
  /**
   * See the reference page for types and reasons.
   */
  readonly conditions?: readonly Condition[];
}

export interface TenantStatusLeak {
  /**
   * Id of the other tenant.
   */
  readonly otherTenantId: string;
  /**
   * `Out`: the other tenant sees memory of this one. `In`: this one sees the other's.
   */
  readonly direction: 'Out' | 'In';
  /**
   * How, for example `dataset id, search`.
   */
  readonly ways: string;
}

/**
 * A Dedicated tenant that nobody used is being woken, and nobody used it since. Five minutes after its services answer it goes back to sleep.
 */
export interface TenantStatusWaking {
  /**
   * When it was woken.
   */
  readonly since: string;
  /**
   * `Request`: one that shows a credential, of which only its services can say whether it is valid. `Declaration`: a change of the resource, which counts as use.
   */
  readonly by: 'Request' | 'Declaration';
}

export interface TenantStatusSecret {
  /**
   * Name of the Secret.
   */
  readonly name: string;
  /**
   * Contents of the Secret.
   */
  readonly purpose: 'ApiKey' | 'OwnerPassword' | 'ModelKey' | 'EmbeddingKey' | 'InstallationKeys';
  /**
   * Name of the API key in `spec.apiKeys`.
   */
  readonly apiKey?: string | undefined;
  /**
   * True when the operator made the Secret and writes it. Others are only read.
   */
  readonly managed?: boolean | undefined;
  /**
   * The version of the Secret whose value is in force.
   */
  readonly observedVersion?: string | undefined;
  /**
   * When the key is rotated next.
   */
  readonly nextRotation?: string | undefined;
  /**
   * Until when the former key is valid as well.
   */
  readonly previousValidUntil?: string | undefined;
}

/**
 * The language model of the tenant's own that is in use.
 */
export interface TenantStatusLanguageModel {
  /**
   * Who serves it.
   */
  readonly provider: string;
  /**
   * Its name.
   */
  readonly model: string;
}

/**
 * The embedding model of the tenant's own that makes new vectors.
 */
export interface TenantStatusEmbedding {
  /**
   * Who serves it.
   */
  readonly provider: string;
  /**
   * Its name.
   */
  readonly model: string;
  /**
   * How many numbers its vectors have.
   */
  readonly dimensions: number;
}

export interface TenantStatusStore {
  /**
   * Data that is stored there.
   */
  readonly role: 'Documents' | 'Blobs' | 'Text' | 'Vectors' | 'Graph' | 'Bus' | 'Events';
  /**
   * The kind of store.
   */
  readonly driver: string;
  /**
   * Name of the database of a Dedicated tenant, or the prefix of its names.
   */
  readonly name?: string | undefined;
  /**
   * How this tenant is kept apart from others.
   */
  readonly isolation: 'Label' | 'Index' | 'Database' | 'Cluster';
  /**
   * True when the services of a Dedicated tenant sign in as a user that no other tenant has.
   */
  readonly ownCredentials?: boolean | undefined;
}

/**
 * Usage of the tenant, as the services count it. Refreshed with every check.
 */
export interface TenantStatusUsage {
  /**
   * Datasets.
   */
  readonly datasets?: number | undefined;
  /**
   * Data items.
   */
  readonly items?: number | undefined;
  /**
   * Size of stored files.
   */
  readonly storage?: string | undefined;
  /**
   * Language-model tokens since midnight UTC.
   */
  readonly llmTokensToday?: number | undefined;
  /**
   * Language-model tokens since the first of the month, UTC.
   */
  readonly llmTokensThisMonth?: number | undefined;
  /**
   * True when the services report every limit of `spec.quotas` as in force.
   */
  readonly enforced?: boolean | undefined;
}

/**
 * The route that was made.
 */
export interface TenantStatusRouteObject {
  /**
   * Its kind.
   */
  readonly kind: 'Ingress' | 'HTTPRoute';
  /**
   * Its namespace, that of the services.
   */
  readonly namespace: string;
  /**
   * Its name.
   */
  readonly name: string;
}

/**
 * How far the erasure has come, while the resource is being deleted with policy `Delete` or `Snapshot`.
 */
export interface TenantStatusErasure {
  /**
   * Part that is being erased now.
   */
  readonly step?: string | undefined;
  /**
   * Number of entries that all stores together still hold, at the last count.
   */
  readonly residue: number;
  /**
   * ConfigMap with the signed receipt, under `receipt.json`.
   */
  readonly receipt?: string | undefined;
}
