// Made from the OpenAPI document by `npm run generate`. Do not edit.

export type SearchType =
  | 'SUMMARIES'
  | 'CHUNKS'
  | 'CHUNKS_LEXICAL'
  | 'RAG_COMPLETION'
  | 'HYBRID_COMPLETION'
  | 'TRIPLET_COMPLETION'
  | 'GRAPH_COMPLETION'
  | 'GRAPH_COMPLETION_DECOMPOSITION'
  | 'GRAPH_SUMMARY_COMPLETION'
  | 'CYPHER'
  | 'NATURAL_LANGUAGE'
  | 'GRAPH_COMPLETION_COT'
  | 'GRAPH_COMPLETION_CONTEXT_EXTENSION'
  | 'FEELING_LUCKY'
  | 'TEMPORAL'
  | 'CODING_RULES'
  | 'CODE'
  | 'AGENTIC_COMPLETION'
  | 'GRAPH_REPORT'
  | 'BROAD'
  | 'SKILLS';
export type RecallItem =
  RecalledFromGraph | RecalledQuestion | RecalledStep | RecalledGuidance | OfferedSkill | MemoryNotReady;
export type SearchTypeOutput =
  | 'SUMMARIES'
  | 'CHUNKS'
  | 'CHUNKS_LEXICAL'
  | 'RAG_COMPLETION'
  | 'HYBRID_COMPLETION'
  | 'TRIPLET_COMPLETION'
  | 'GRAPH_COMPLETION'
  | 'GRAPH_COMPLETION_DECOMPOSITION'
  | 'GRAPH_SUMMARY_COMPLETION'
  | 'CYPHER'
  | 'NATURAL_LANGUAGE'
  | 'GRAPH_COMPLETION_COT'
  | 'GRAPH_COMPLETION_CONTEXT_EXTENSION'
  | 'FEELING_LUCKY'
  | 'TEMPORAL'
  | 'CODING_RULES'
  | 'CODE'
  | 'AGENTIC_COMPLETION'
  | 'GRAPH_REPORT'
  | 'BROAD'
  | 'SKILLS';
export type SchemaInventory = {
  type: string;
  count: number;
  samples: string[];
  sample_size: number;
  relationships: {
    to_type: string;
    relation: string;
    count: number;
  }[];
}[];

export interface OpenApiDocument {
  paths: Paths;
  components: Components;
}
export interface Paths {
  '/api/v1/auth/login': {
    /**
     * Log in with a form; returns a token and sets the login cookie
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/x-www-form-urlencoded': BodyLoginApiV1AuthLoginPost;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': BearerResponse;
          };
        };
      };
    };
  };
  '/api/v1/auth/logout': {
    /**
     * End the presented login token and clear the cookie
     */
    post: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {};
          };
        };
      };
    };
  };
  '/api/v1/auth/me': {
    /**
     * Own e-mail address
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              email: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/oidc': {
    /**
     * Providers to sign in with, and whether credentials are required, for a login page
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              providers: {
                name: string;
                title: string;
                login_url: string;
              }[];
              authentication_required: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/oidc/{provider}/login': {
    /**
     * Send the browser to a provider to sign in
     */
    get: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          return_to?: string;
        };
      };
      responses: {};
    };
  };
  '/api/v1/auth/oidc/{provider}/callback': {
    /**
     * Finish a sign-in: sets the login cookie and redirects to return_to, or returns a token
     */
    get: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          state?: string;
          code?: string;
          iss?: string;
          error?: string;
          error_description?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': BearerResponse;
          };
        };
      };
    };
  };
  '/api/v1/auth/oidc/{provider}/logout': {
    /**
     * End the presented login token; returns where the browser signs out of the provider
     */
    post: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          return_to?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              logout_url: string | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/device/code': {
    /**
     * Start a sign-in of a program without a browser (RFC 8628)
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/x-www-form-urlencoded': {
            client_id: string;
            device_name?: string;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              device_code: string;
              user_code: string;
              verification_uri: string;
              verification_uri_complete: string;
              /**
               * Seconds
               */
              expires_in: number;
              /**
               * Seconds between two polls
               */
              interval: number;
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/device': {
    /**
     * The program that waits with a code
     */
    get: {
      parameters: {
        query: {
          user_code: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              client_id: string;
              device_name: string | null;
              /**
               * Address that the program asked from
               */
              address: string;
              created_at: string;
              expires_at: string;
            };
          };
        };
      };
    };
    /**
     * Let a program sign in as the caller, or refuse it
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': {
            user_code: string;
            approve: boolean;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/.well-known/oauth-authorization-server': {
    /**
     * Where programs sign in (RFC 8414)
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              issuer: string;
              authorization_endpoint: string;
              token_endpoint: string;
              registration_endpoint: string;
              device_authorization_endpoint: string;
              jwks_uri: string;
              grant_types_supported: string[];
              response_types_supported: string[];
              scopes_supported: string[];
              code_challenge_methods_supported: string[];
              token_endpoint_auth_methods_supported: string[];
              authorization_response_iss_parameter_supported: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/oauth/register': {
    /**
     * Register a program that people may let in (RFC 7591)
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': {
            client_name?: string;
            /**
             * @minItems 1
             * @maxItems 10
             */
            redirect_uris: string[];
          };
        };
      };
      responses: {
        '201': {
          content: {
            'application/json': {
              client_id: string;
              client_name: string;
              redirect_uris: string[];
              grant_types: string[];
              response_types: string[];
              token_endpoint_auth_method: 'none';
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/oauth/authorization': {
    /**
     * The program that asks to be let in
     */
    get: {
      parameters: {
        query: {
          client_id: string;
          redirect_uri: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              client_name: string;
              redirect_uri: string;
            };
          };
        };
      };
    };
    /**
     * Let a program act as the caller, within limits, or refuse it
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': {
            client_id: string;
            redirect_uri: string;
            response_type: string;
            code_challenge: string;
            code_challenge_method: 'S256';
            state?: string | null;
            /**
             * Address of the server or its MCP endpoint (RFC 8707)
             */
            resource?: string | null;
            approve: boolean;
            /**
             * Null: all
             */
            permissions?: ('read' | 'write' | 'delete' | 'share')[] | null;
            /**
             * Null: all
             */
            datasets?: string[] | null;
            /**
             * Seconds; null: no end
             */
            expires_in?: number | null;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              redirect_to: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/oauth/token': {
    /**
     * Exchange the code of a person who let the program in, or ask whether they have (RFC 6749, RFC 8628)
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/x-www-form-urlencoded': {
            grant_type: string;
            client_id: string;
            device_code?: string;
            code?: string;
            redirect_uri?: string;
            code_verifier?: string;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              access_token: string;
              token_type: 'bearer';
              /**
               * Seconds; absent: it does not expire
               */
              expires_in?: number;
              scope?: string;
            };
          };
        };
      };
    };
  };
  '/.well-known/jwks.json': {
    /**
     * Public keys of login tokens; none while a secret signs them
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              keys: {
                kty: string;
                kid: string;
                alg: string;
                use: 'sig';
                crv?: string;
                x?: string;
                y?: string;
                n?: string;
                e?: string;
              }[];
            };
          };
        };
      };
    };
  };
  '/api/v1/auth/register': {
    /**
     * Create an account
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': UserCreate;
        };
      };
      responses: {
        '201': {
          content: {
            'application/json': UserRead;
          };
        };
      };
    };
  };
  '/api/v1/users/me': {
    /**
     * Own account
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': UserRead;
          };
        };
      };
    };
    /**
     * Change own address or password
     */
    patch: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': {
            email?: string | null;
            password?: string | null;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': UserRead;
          };
        };
      };
    };
  };
  '/api/v1/users/get-user-id': {
    /**
     * Id of the account with an address
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': UserEmailRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              user_id: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/users': {
    /**
     * Accounts of people by page, without those of agents
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              users: UserRead[];
              /**
               * Value of `after` for the next page
               */
              next: string | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/users/invitations': {
    /**
     * Create an account whose owner chooses the password, by a mail or a link that is shown once
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': UserEmailRequest;
        };
      };
      responses: {
        '201': {
          content: {
            'application/json': {
              user: UserRead;
              mailed: boolean;
              /**
               * Page that sets the password, once; null: it was mailed
               */
              link: string | null;
              expires_at: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/users/{user_id}': {
    /**
     * An account
     */
    get: {
      parameters: {
        path: {
          user_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': UserRead;
          };
        };
      };
    };
    /**
     * Change an account
     */
    patch: {
      parameters: {
        path: {
          user_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': UserUpdate;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': UserRead;
          };
        };
      };
    };
    /**
     * Delete an account with its agents and keys; its datasets get another owner
     */
    delete: {
      parameters: {
        path: {
          user_id: string;
        };
      };
      responses: {
        '204': {
          content?: never;
        };
      };
    };
  };
  '/api/v1/auth/forgot-password': {
    /**
     * Request a mail with a token that sets a new password
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': UserEmailRequest;
        };
      };
      responses: {
        '202': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/auth/reset-password': {
    /**
     * Set a new password with a token from a mail; ends all login tokens
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': BodyResetResetPasswordApiV1AuthResetPasswordPost;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/auth/request-verify-token': {
    /**
     * Request a mail with a token that confirms the address
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': UserEmailRequest;
        };
      };
      responses: {
        '202': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/auth/verify': {
    /**
     * Confirm an address with a token from a mail
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': BodyVerifyVerifyApiV1AuthVerifyPost;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': UserRead;
          };
        };
      };
    };
  };
  '/api/v1/auth/api-keys': {
    /**
     * List own API keys, without the keys
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': ApiKey[];
          };
        };
      };
    };
    /**
     * Create an API key; it is shown only once
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': ApiKeyCreationPayload;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ApiKey;
          };
        };
      };
    };
  };
  '/api/v1/auth/api-keys/{api_key_id}': {
    /**
     * Delete an API key
     */
    delete: {
      parameters: {
        path: {
          api_key_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/agents/list': {
    /**
     * List own agents
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': AgentDTO[];
          };
        };
      };
    };
  };
  '/api/v1/agents/create': {
    /**
     * Create an agent with an API key, which is shown only once
     */
    post: {
      parameters: {
        query: {
          name: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': AgentWithApiKeyDTO;
          };
        };
      };
    };
  };
  '/api/v1/agents/{agent_id}': {
    /**
     * One own agent
     */
    get: {
      parameters: {
        path: {
          agent_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': AgentDTO;
          };
        };
      };
    };
    /**
     * Delete an own agent with its keys and connections; its datasets go to the caller
     */
    delete: {
      parameters: {
        path: {
          agent_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/agents/register': {
    /**
     * Register a session of the caller
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': RegisterAgentRequest;
        };
      };
      responses: {
        '201': {
          content: {
            'application/json': AgentConnection;
          };
        };
      };
    };
  };
  '/api/v1/agents/unregister': {
    /**
     * End a session of the caller
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': UnregisterAgentRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': AgentModeDTO;
          };
        };
      };
    };
  };
  '/api/v1/agents/connections': {
    /**
     * Connections of the caller and of its agents, newest first
     */
    get: {
      parameters: {
        query?: {
          agent_id?: string;
          range?: '24h' | '7d' | '30d' | 'all';
          status?: 'active' | 'inactive' | 'unknown';
          include_sources?: boolean;
          active_only?: boolean;
          limit?: number;
          offset?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': AgentConnectionList;
          };
        };
      };
    };
  };
  '/api/v1/agents/connections/me': {
    /**
     * The active connection that the caller registered last, or the one of a name
     */
    get: {
      parameters: {
        query?: {
          agent_session_name?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': AgentConnectionDetail;
          };
        };
      };
    };
  };
  '/api/v1/agents/connections/{agent_id}': {
    /**
     * The same for an own agent, by the id of its account
     */
    get: {
      parameters: {
        path: {
          agent_id: string;
        };
        query?: {
          agent_session_name?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': AgentConnectionDetail;
          };
        };
      };
    };
  };
  '/api/v1/integrations/plugins/{plugin_key}/provision': {
    /**
     * Give a plugin an agent with a new API key, which is shown only once
     */
    post: {
      parameters: {
        path: {
          plugin_key: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              pluginKey: string;
              agentId: string;
              apiKey: string;
              created: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/plugins/{plugin_key}': {
    /**
     * End the keys of a plugin; its agent and data stay
     */
    delete: {
      parameters: {
        path: {
          plugin_key: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              disconnected: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants': {
    /**
     * Create a tenant, own it and work in it
     */
    post: {
      parameters: {
        query: {
          tenant_name: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
              tenant_id: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/select': {
    /**
     * Work in another tenant, or, with null, in the personal space
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': SelectTenantDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
              tenant_id: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/me': {
    /**
     * Tenants the caller belongs to
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': Tenant[];
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/{tenant_id}/users': {
    /**
     * Members of a tenant with their roles
     */
    get: {
      parameters: {
        path: {
          tenant_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': TenantMember[];
          };
        };
      };
    };
  };
  '/api/v1/permissions/users/{user_id}/tenants': {
    /**
     * Add a user to a tenant
     */
    post: {
      parameters: {
        path: {
          user_id: string;
        };
        query: {
          tenant_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/{tenant_id}/users/{user_id}': {
    /**
     * Remove a user from a tenant, with everything the user and the user’s agents have there
     */
    delete: {
      parameters: {
        path: {
          tenant_id: string;
          user_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/roles': {
    /**
     * Create a role in the current tenant
     */
    post: {
      parameters: {
        query: {
          role_name: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
              role_id: string;
              tenant_id: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/roles/{role_id}': {
    /**
     * Delete a role with its members, grants and capabilities
     */
    delete: {
      parameters: {
        path: {
          role_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/users/{user_id}/roles': {
    /**
     * Assign a role to a member of its tenant
     */
    post: {
      parameters: {
        path: {
          user_id: string;
        };
        query: {
          role_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
    /**
     * Take a role from a user
     */
    delete: {
      parameters: {
        path: {
          user_id: string;
        };
        query: {
          role_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/{tenant_id}/roles': {
    /**
     * Roles of a tenant; own ones only for those who may not manage users
     */
    get: {
      parameters: {
        path: {
          tenant_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              name: string;
              description: null;
              user_count: number;
            }[];
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/{tenant_id}/roles/users/{user_id}': {
    /**
     * Roles that a member has in a tenant
     */
    get: {
      parameters: {
        path: {
          tenant_id: string;
          user_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              name: string;
            }[];
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/{tenant_id}/roles/{role_id}/users': {
    /**
     * Users that have a role
     */
    get: {
      parameters: {
        path: {
          tenant_id: string;
          role_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              name: string;
            }[];
          };
        };
      };
    };
  };
  '/api/v1/permissions/datasets/{principal_id}': {
    /**
     * Grant a user, a role or a tenant one permission on datasets
     */
    post: {
      parameters: {
        path: {
          principal_id: string;
        };
        query: {
          permission_name: string;
        };
      };
      requestBody: {
        content: {
          /**
           * @minItems 1
           */
          'application/json': string[];
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
    /**
     * Revoke one permission on datasets from a user, a role or a tenant
     */
    delete: {
      parameters: {
        path: {
          principal_id: string;
        };
        query: {
          permission_name: string;
        };
      };
      requestBody: {
        content: {
          /**
           * @minItems 1
           */
          'application/json': string[];
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/principals/{principal_id}/datasets': {
    /**
     * Datasets of the current tenant that a principal was granted
     */
    get: {
      parameters: {
        path: {
          principal_id: string;
        };
        query?: {
          permission_name?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              name: string;
              createdAt: string;
              updatedAt: string | null;
              ownerId: string;
              tenantId: string;
              data: unknown[];
            }[];
          };
        };
      };
    };
  };
  '/api/v1/permissions/datasets/{dataset_id}/principals': {
    /**
     * Users, roles and tenants that were granted something on a dataset
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              kind: 'user' | 'role' | 'tenant';
              name: string;
              permissions: ('read' | 'write' | 'delete' | 'share')[];
            }[];
          };
        };
      };
    };
  };
  '/api/v1/permissions/capabilities/{principal_id}': {
    /**
     * Grant capabilities to a user, a role or a tenant
     */
    post: {
      parameters: {
        path: {
          principal_id: string;
        };
        query: {
          capability: string[];
          tenant_id?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
    /**
     * Revoke capabilities from a user, a role or a tenant
     */
    delete: {
      parameters: {
        path: {
          principal_id: string;
        };
        query: {
          capability: string[];
          tenant_id?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/permissions/tenants/{tenant_id}/capabilities/me': {
    /**
     * Own capabilities in a tenant
     */
    get: {
      parameters: {
        path: {
          tenant_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              capabilities: string[];
            };
          };
        };
      };
    };
  };
  '/api/v1/audit': {
    /**
     * The audit log of a tenant, newest first
     */
    get: {
      parameters: {
        query?: {
          /**
           * Default: the tenant the caller works in. `personal`: accounts and the server, for superusers.
           */
          tenant_id?: 'personal' | string;
          /**
           * For example `grant.given`
           */
          action?: string;
          /**
           * Id of the user who did it
           */
          actor?: string;
          /**
           * Id of the changed thing
           */
          subject?: string;
          /**
           * From this time on
           */
          since?: string;
          /**
           * Before this time
           */
          until?: string;
          limit?: number;
          /**
           * `next` of the page before, with the same filters
           */
          after?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              records: {
                tenant_id: string | null;
                /**
                 * From 1, without gaps
                 */
                number: number;
                at: string;
                action: string;
                actor: string | null;
                subject: string;
                details: {
                  [k: string]: unknown;
                };
                /**
                 * Hash of the record before
                 */
                previous: string;
                hash: string;
              }[];
              next: string | null;
              /**
               * Addresses of accounts and names of datasets, by the ids in the records, that the caller may see now
               */
              names: {
                [k: string]: string;
              };
            };
          };
        };
      };
    };
  };
  '/api/v1/audit/export': {
    /**
     * The whole audit log of a tenant as JSON lines, oldest first; the last line is the signed head
     */
    get: {
      parameters: {
        query?: {
          /**
           * Default: the tenant the caller works in. `personal`: accounts and the server, for superusers.
           */
          tenant_id?: 'personal' | string;
        };
      };
      responses: {
        '200': {
          content: {
            'text/plain': string;
          };
        };
      };
    };
  };
  '/api/v1/audit/keys': {
    /**
     * The public keys that verify the signed heads of exports
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              keys: {
                [k: string]: string;
              }[];
            };
          };
        };
      };
    };
  };
  '/scim/v2/Users': {
    /**
     * People of the current tenant, as its directory sees them
     */
    get: {
      parameters: {
        query?: {
          attributes?: string;
          excludedAttributes?: string;
          /**
           * For example `userName eq "ada@example.com"`
           */
          filter?: string;
          startIndex?: number;
          count?: number;
          sortBy?: string;
          sortOrder?: 'ascending' | 'descending';
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              schemas: string[];
              totalResults: number;
              startIndex: number;
              itemsPerPage: number;
              Resources: {
                [k: string]: unknown;
              }[];
            };
          };
        };
      };
    };
    /**
     * Provision a person: an account of the directory, or a link to a member
     */
    post: {
      parameters: {
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      requestBody: {
        content: {
          /**
           * A resource, or a PatchOp message (RFC 7644 §3.5.2)
           */
          'application/scim+json': {
            [k: string]: unknown;
          };
        };
      };
      responses: {
        '201': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
  };
  '/scim/v2/Users/{id}': {
    /**
     * A person of the current tenant
     */
    get: {
      parameters: {
        path: {
          id: string;
        };
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
    /**
     * Replace the attributes of a person
     */
    put: {
      parameters: {
        path: {
          id: string;
        };
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      requestBody: {
        content: {
          /**
           * A resource, or a PatchOp message (RFC 7644 §3.5.2)
           */
          'application/scim+json': {
            [k: string]: unknown;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
    /**
     * Change attributes of a person; `active: false` ends access at once
     */
    patch: {
      parameters: {
        path: {
          id: string;
        };
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      requestBody: {
        content: {
          /**
           * A resource, or a PatchOp message (RFC 7644 §3.5.2)
           */
          'application/scim+json': {
            [k: string]: unknown;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
    /**
     * Remove a person from the tenant; an account of the directory alone is deleted
     */
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        '204': {
          content?: never;
        };
      };
    };
  };
  '/scim/v2/Groups': {
    /**
     * Roles of the current tenant, as its directory sees them
     */
    get: {
      parameters: {
        query?: {
          attributes?: string;
          excludedAttributes?: string;
          /**
           * For example `userName eq "ada@example.com"`
           */
          filter?: string;
          startIndex?: number;
          count?: number;
          sortBy?: string;
          sortOrder?: 'ascending' | 'descending';
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              schemas: string[];
              totalResults: number;
              startIndex: number;
              itemsPerPage: number;
              Resources: {
                [k: string]: unknown;
              }[];
            };
          };
        };
      };
    };
    /**
     * Create a role with its members
     */
    post: {
      parameters: {
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      requestBody: {
        content: {
          /**
           * A resource, or a PatchOp message (RFC 7644 §3.5.2)
           */
          'application/scim+json': {
            [k: string]: unknown;
          };
        };
      };
      responses: {
        '201': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
  };
  '/scim/v2/Groups/{id}': {
    /**
     * A role of the current tenant
     */
    get: {
      parameters: {
        path: {
          id: string;
        };
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
    /**
     * Replace name and members of a role; without members these stay
     */
    put: {
      parameters: {
        path: {
          id: string;
        };
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      requestBody: {
        content: {
          /**
           * A resource, or a PatchOp message (RFC 7644 §3.5.2)
           */
          'application/scim+json': {
            [k: string]: unknown;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
    /**
     * Rename a role, add members to it or remove some
     */
    patch: {
      parameters: {
        path: {
          id: string;
        };
        query?: {
          attributes?: string;
          excludedAttributes?: string;
        };
      };
      requestBody: {
        content: {
          /**
           * A resource, or a PatchOp message (RFC 7644 §3.5.2)
           */
          'application/scim+json': {
            [k: string]: unknown;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
    /**
     * Remove a role with its grants
     */
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        '204': {
          content?: never;
        };
      };
    };
  };
  '/scim/v2/ServiceProviderConfig': {
    /**
     * What this SCIM server can do
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
  };
  '/scim/v2/ResourceTypes': {
    /**
     * The kinds of resources
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              schemas: string[];
              totalResults: number;
              startIndex: number;
              itemsPerPage: number;
              Resources: {
                [k: string]: unknown;
              }[];
            };
          };
        };
      };
    };
  };
  '/scim/v2/ResourceTypes/{id}': {
    /**
     * One of the kinds of resources
     */
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
  };
  '/scim/v2/Schemas': {
    /**
     * The schemas of resources
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              schemas: string[];
              totalResults: number;
              startIndex: number;
              itemsPerPage: number;
              Resources: {
                [k: string]: unknown;
              }[];
            };
          };
        };
      };
    };
  };
  '/scim/v2/Schemas/{id}': {
    /**
     * One of the schemas of resources
     */
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/scim+json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
  };
  '/api/v1/budgets/tenants/{tenant_id}': {
    /**
     * Budget and usage of a tenant; with the id of an account, of its personal space
     */
    get: {
      parameters: {
        path: {
          tenant_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              account: string;
              limits: {
                llmTokensPerDay: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                llmTokensPerMonth: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                storageBytes: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                items: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                datasets: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                requestsPerMinute: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                concurrentRuns: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
              };
              updatedAt: string | null;
            };
          };
        };
      };
    };
    /**
     * Set the budget of a tenant or of the personal space of an account
     */
    put: {
      parameters: {
        path: {
          tenant_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            llmTokensPerDay?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            llmTokensPerMonth?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            storageBytes?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            items?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            datasets?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            requestsPerMinute?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            concurrentRuns?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            action?: 'Enforce' | 'Warn';
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              account: string;
              limits: {
                llmTokensPerDay: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                llmTokensPerMonth: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                storageBytes: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                items: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                datasets: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                requestsPerMinute: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                concurrentRuns: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
              };
              updatedAt: string | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/budgets/keys/{key_id}': {
    /**
     * Budget and usage of an API key
     */
    get: {
      parameters: {
        path: {
          key_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              account: string;
              limits: {
                llmTokensPerDay: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                llmTokensPerMonth: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                storageBytes: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                items: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                datasets: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                requestsPerMinute: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                concurrentRuns: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
              };
              updatedAt: string | null;
            };
          };
        };
      };
    };
    /**
     * Set the budget of an API key, within the ceiling that a superuser set
     */
    put: {
      parameters: {
        path: {
          key_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            llmTokensPerDay?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            llmTokensPerMonth?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            storageBytes?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            items?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            datasets?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            requestsPerMinute?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            concurrentRuns?:
              | (number | null)
              | {
                  limit: number | null;
                  action?: 'Enforce' | 'Warn';
                };
            action?: 'Enforce' | 'Warn';
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              account: string;
              limits: {
                llmTokensPerDay: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                llmTokensPerMonth: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                storageBytes: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                items: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                datasets: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                requestsPerMinute: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
                concurrentRuns: {
                  limit: number | null;
                  action: ('Enforce' | 'Warn') | null;
                  used: number;
                  source: 'stored' | 'default' | 'none';
                  windowEndsAt: string | null;
                };
              };
              updatedAt: string | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/activity/usage': {
    /**
     * Budget and usage of the space the caller works in, and of the API key it came with
     */
    get: {
      parameters: {
        query?: {
          days?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              space: {
                account: string;
                limits: {
                  llmTokensPerDay: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  llmTokensPerMonth: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  storageBytes: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  items: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  datasets: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  requestsPerMinute: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  concurrentRuns: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                };
                updatedAt: string | null;
              } | null;
              key: {
                account: string;
                limits: {
                  llmTokensPerDay: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  llmTokensPerMonth: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  storageBytes: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  items: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  datasets: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  requestsPerMinute: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                  concurrentRuns: {
                    limit: number | null;
                    action: ('Enforce' | 'Warn') | null;
                    used: number;
                    source: 'stored' | 'default' | 'none';
                    windowEndsAt: string | null;
                  };
                };
                updatedAt: string | null;
              } | null;
              models: {
                model: string;
                calls: number;
                inputTokens: number;
                outputTokens: number;
              }[];
            };
          };
        };
      };
    };
  };
  '/api/v1/configuration/store_user_configuration': {
    /**
     * Store an object under a name of the caller, replacing an earlier one
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': StorePrincipalConfigurationPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/configuration/get_user_configuration/{config_id}': {
    /**
     * An object of the caller or of one of their agents; {} for any other id
     */
    get: {
      parameters: {
        path: {
          config_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              [k: string]: unknown;
            };
          };
        };
      };
    };
  };
  '/api/v1/configuration/get_user_configuration': {
    /**
     * All objects of the caller and of their agents
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': StoredConfiguration[];
          };
        };
      };
    };
  };
  '/api/v1/settings': {
    /**
     * The current models
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': SettingsDTO;
          };
        };
      };
    };
    /**
     * Set the language model for work that starts from now on; `vectorDb` is stored without effect
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': {
            llm?: {
              provider: 'openai' | 'ollama' | 'anthropic' | 'gemini' | 'mistral';
              model: string;
              apiKey: string;
            } | null;
            vectorDb?: {
              provider: 'lancedb' | 'pgvector';
              url: string;
              apiKey: string;
            } | null;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
    /**
     * Return to the models that the environment configures
     */
    delete: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/checks/connection': {
    /**
     * Whether the hosted service (COGNEE_CLOUD_API_URL) accepts the key in X-Api-Key
     */
    post: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/cognify': {
    /**
     * Build the knowledge graph of datasets from the data added to them
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': CognifyPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            /**
             * By dataset id
             */
            'application/json': {
              [k: string]: PipelineRunInfo;
            };
          };
        };
      };
    };
  };
  '/api/cognify': {
    /**
     * The same for datasets that another memory pushed here, by the ids that they have there
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': CognifyPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            /**
             * By dataset id
             */
            'application/json': {
              [k: string]: PipelineRunInfo;
            };
          };
        };
      };
    };
  };
  '/api/v1/datasets/status': {
    /**
     * Newest state of each dataset and pipeline
     */
    get: {
      parameters: {
        query?: {
          /**
           * @minItems 0
           */
          dataset?: string[];
          pipeline?: string[];
        };
      };
      responses: {
        '200': {
          content: {
            /**
             * By dataset id; with several pipelines by pipeline below it
             */
            'application/json': {
              [k: string]:
                | string
                | {
                    [k: string]: string;
                  };
            };
          };
        };
      };
    };
  };
  '/api/v1/datasets/status/progress': {
    /**
     * Newest state of each dataset and pipeline, with progress
     */
    get: {
      parameters: {
        query?: {
          /**
           * @minItems 0
           */
          dataset?: string[];
          pipeline?: string[];
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              [k: string]:
                | PipelineRunStatusWithProgress
                | {
                    [k: string]: PipelineRunStatusWithProgress;
                  };
            };
          };
        };
      };
    };
  };
  '/api/v1/datasets/graph-summary': {
    /**
     * Number of nodes and edges per dataset
     */
    get: {
      parameters: {
        query?: {
          /**
           * @minItems 0
           */
          dataset_ids?: string[];
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DatasetGraphSummaryDTO[];
          };
        };
      };
    };
  };
  '/api/v1/datasets/embedding/{dataset_id}': {
    /**
     * Move the vectors of a dataset to another embedding model that is configured
     */
    put: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            model?: string | null;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              embedding: {
                model: string;
                dimensions: number;
              } | null;
              migration: {
                from: {
                  model: string;
                  dimensions: number;
                };
                to: {
                  model: string;
                  dimensions: number;
                };
                done: number;
                total: number;
                started_at: string;
                phase: 'copying' | 'settling';
              } | null;
              failure: {
                name: string;
                message: string;
              } | null;
            };
          };
        };
        '202': {
          content: {
            'application/json': {
              embedding: {
                model: string;
                dimensions: number;
              } | null;
              migration: {
                from: {
                  model: string;
                  dimensions: number;
                };
                to: {
                  model: string;
                  dimensions: number;
                };
                done: number;
                total: number;
                started_at: string;
                phase: 'copying' | 'settling';
              } | null;
              failure: {
                name: string;
                message: string;
              } | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/activity/pipeline-runs': {
    /**
     * History of pipeline runs and operations, newest first
     */
    get: {
      parameters: {
        query?: {
          dataset_id?: string;
          pipeline_name?: string;
          limit?: number;
          offset?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              kind: 'pipeline' | 'operation';
              pipeline_name: string | null;
              status: string | null;
              dataset_id: string | null;
              dataset_name: string | null;
              owner_id: string | null;
              owner_email: string | null;
              created_at: string;
              pipeline_run_id: string;
              operation_name: string;
              origin: string;
              outcome: string | null;
              background: boolean | null;
              error_class: string | null;
              error_message: string | null;
              tokens_in: number | null;
              tokens_out: number | null;
              embedding_tokens: number | null;
              started_at: string;
              ended_at: string | null;
              user_id: string;
              session_id: string | null;
              parent_operation_id: string | null;
              /**
               * Of an improve that ended: what its stages did
               */
              stages?: {
                stage: string;
                status: string;
                reason: string | null;
                error: string | null;
                counts: {
                  [k: string]: number;
                };
                duration_ms: number;
              }[];
            }[];
          };
        };
      };
    };
  };
  '/api/v1/activity/jobs': {
    /**
     * Jobs that failed for good, oldest first
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              jobs: {
                id: string;
                kind: string;
                tenant_id: string;
                dataset_id: string | null;
                pipeline_run_id: string | null;
                attempts: number;
                error_class: string;
                error_message: string;
                failed_at: string;
              }[];
              /**
               * Value of `after` for the next page
               */
              next: string | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/activity/jobs/{job_id}': {
    /**
     * A job that failed for good, with its payload
     */
    get: {
      parameters: {
        path: {
          job_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              kind: string;
              tenant_id: string;
              dataset_id: string | null;
              pipeline_run_id: string | null;
              attempts: number;
              error_class: string;
              error_message: string;
              failed_at: string;
              /**
               * The work of the job
               */
              payload: {
                [k: string]: unknown;
              };
            };
          };
        };
      };
    };
    /**
     * Discard a failed job; its run ends with an error
     */
    delete: {
      parameters: {
        path: {
          job_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              kind: string;
              tenant_id: string;
              dataset_id: string | null;
              pipeline_run_id: string | null;
              attempts: number;
              error_class: string;
              error_message: string;
              failed_at: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/activity/jobs/{job_id}/replay': {
    /**
     * Queue a failed job again
     */
    post: {
      parameters: {
        path: {
          job_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              id: string;
              kind: string;
              tenant_id: string;
              dataset_id: string | null;
              pipeline_run_id: string | null;
              attempts: number;
              error_class: string;
              error_message: string;
              failed_at: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/validate': {
    /**
     * Check the graph of a dataset against its indexes; of several datasets the first
     */
    get: {
      parameters: {
        query?: {
          dataset?: string[];
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ValidationReport;
          };
        };
      };
    };
  };
  '/api/v1/llm/custom-prompt': {
    /**
     * An extraction prompt that fits a graph model
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': CustomPromptGenerationPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': CustomPromptGenerationResponseDTO;
          };
        };
      };
    };
  };
  '/api/v1/llm/infer-schema': {
    /**
     * A graph model for texts like the ones given
     */
    post: {
      parameters: {};
      requestBody?: {
        content: {
          'multipart/form-data': BodyInferSchemaApiV1LlmInferSchemaPost;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': InferSchemaResponseDTO;
          };
        };
      };
    };
  };
  '/api/v1/add': {
    /**
     * Add text, files and web pages to a dataset
     */
    post: {
      parameters: {};
      requestBody?: {
        content: {
          'multipart/form-data': BodyAddApiV1AddPost;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': PipelineRunInfo;
          };
        };
      };
    };
  };
  '/api/v1/remember': {
    /**
     * Add data and build the graph from it in one call
     */
    post: {
      parameters: {};
      requestBody?: {
        content: {
          'multipart/form-data': BodyRememberApiV1RememberPost;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': RememberResult;
          };
        };
      };
    };
  };
  '/api/v1/update': {
    /**
     * Replace the content of an item and build the graph from it
     */
    patch: {
      parameters: {
        query: {
          data_id: string;
          dataset_id?: string;
          chunk_level_diff?: boolean;
        };
      };
      requestBody?: {
        content: {
          'multipart/form-data': BodyUpdateApiV1UpdatePatch;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': UpdateResult;
          };
        };
      };
    };
  };
  '/api/v1/remember/entry': {
    /**
     * Remember what an agent lived through: a question with its answer, a step, feedback, a skill run
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': RememberEntryRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': RememberResult;
          };
        };
      };
    };
  };
  '/api/v1/skills': {
    /**
     * Store a skill; one of the same name in the dataset is updated
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': SkillIngestRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': RememberResult;
          };
        };
      };
    };
    /**
     * Skills of a dataset by name, one page
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
          include_inactive?: boolean;
          limit?: number;
          offset?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SkillListItem[];
          };
        };
      };
    };
  };
  '/api/v1/skills/{skill_id}': {
    /**
     * A skill with its procedure
     */
    get: {
      parameters: {
        path: {
          skill_id: string;
        };
        query: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SkillDetail;
          };
        };
      };
    };
    /**
     * Delete a skill with its runs and proposals
     */
    delete: {
      parameters: {
        path: {
          skill_id: string;
        };
        query: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              status: 'deleted';
              id: string;
              dataset_id: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/ontologies': {
    /**
     * Store an ontology (RDF/XML, Turtle) under a key, for cognify and remember
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'multipart/form-data': BodyUploadOntologyApiV1OntologiesPost;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': UploadedOntologies;
          };
        };
      };
    };
    /**
     * The ontologies of the caller by key, oldest first
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              [k: string]: {
                filename: string;
                size_bytes: number;
                uploaded_at: string;
                description: string | null;
              };
            };
          };
        };
      };
    };
  };
  '/api/v1/ontologies/{ontology_key}': {
    /**
     * Delete an ontology; graphs that were built with it stay as they are
     */
    delete: {
      parameters: {
        path: {
          ontology_key: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DeletedOntology;
          };
        };
      };
    };
  };
  '/api/v1/proposals': {
    /**
     * Proposals for better procedures of the skills of a dataset, newest first
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
          limit?: number;
          offset?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ListedProposal[];
          };
        };
      };
    };
  };
  '/api/v1/proposals/{proposal_id}': {
    /**
     * A proposal for a better procedure of a skill
     */
    get: {
      parameters: {
        path: {
          proposal_id: string;
        };
        query: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ProposalDetail;
          };
        };
      };
    };
  };
  '/api/v1/proposals/{proposal_id}/apply': {
    /**
     * Make the procedure of a proposal that of its skill
     */
    post: {
      parameters: {
        path: {
          proposal_id: string;
        };
        query: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ProposalDetail;
          };
        };
      };
    };
  };
  '/api/v1/datasets': {
    /**
     * Datasets the caller may read
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': DatasetDTO[];
          };
        };
      };
    };
    /**
     * Make a dataset, or get the one of that name
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': DatasetCreationPayload;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DatasetDTO;
          };
        };
      };
    };
    /**
     * Delete every dataset the caller may delete
     */
    delete: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}': {
    /**
     * Delete a dataset with everything in it
     */
    delete: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/data': {
    /**
     * Items of a dataset, newest first, one page
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
        query?: {
          limit?: number;
          offset?: number;
          excerpts?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DataDTO[];
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/data/count': {
    /**
     * Number of items of a dataset
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DataCountDTO;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/data/{data_id}/raw': {
    /**
     * The text of an item, named like the original file
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
          data_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'text/plain': string;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/data/{data_id}/original': {
    /**
     * The bytes of an item as they were added
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
          data_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/octet-stream': Blob;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/data/retry': {
    /**
     * Try items again that could not be built, also those that were set aside
     */
    post: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            data_ids?: string[] | null;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              dataset_id: string;
              data_ids: string[];
              pipeline_run_id: string | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/data/{data_id}': {
    /**
     * Delete an item and all that was built from it
     */
    delete: {
      parameters: {
        path: {
          dataset_id: string;
          data_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/graph': {
    /**
     * Nodes and edges of a dataset
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': GraphDTO;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/processing-status': {
    /**
     * Which items of a dataset are built
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
        query?: {
          pipeline?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DatasetProcessingStatusDTO;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/schema': {
    /**
     * The stored graph schema and prompt of a dataset
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DatasetSchemaResponseDTO;
          };
        };
      };
    };
    /**
     * Store the graph schema and the prompt that later runs use; null and absent leave a value as it is
     */
    put: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': DatasetSchemaPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              status: 'ok';
            };
          };
        };
      };
    };
  };
  '/api/v1/forget': {
    /**
     * Forget an item, a dataset or everything, and count what is left; snapshots of a dataset that stays keep it
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': ForgetPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ForgetResult;
          };
        };
      };
    };
  };
  '/api/v1/delete': {
    /**
     * @deprecated
     * Delete an item (use the datasets routes)
     */
    delete: {
      parameters: {
        query: {
          data_id: string;
          dataset_id?: string;
          mode?: string;
          delete_dataset_if_empty?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              status: 'success';
            };
          };
        };
      };
    };
  };
  '/api/v1/sessions': {
    /**
     * Sessions, by page
     */
    get: {
      parameters: {
        query?: {
          range?: '24h' | '7d' | '30d' | 'all';
          status?: string;
          limit?: number;
          offset?: number;
          order_by?: string;
          descending?: boolean;
          /**
           * Ours: add the first question of each
           */
          labels?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              sessions: SessionRow[];
              total: number;
              limit: number;
              offset: number;
              has_more: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/sessions/with-agent-info': {
    /**
     * Sessions, by page, with the agents that worked in them
     */
    get: {
      parameters: {
        query?: {
          range?: '24h' | '7d' | '30d' | 'all';
          status?: string;
          limit?: number;
          offset?: number;
          order_by?: string;
          descending?: boolean;
          /**
           * Ours: add the first question of each
           */
          labels?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              sessions: SessionRowWithAgent[];
              total: number;
              limit: number;
              offset: number;
              has_more: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/sessions/stats': {
    /**
     * What the sessions of a time came to
     */
    get: {
      parameters: {
        query?: {
          range?: '24h' | '7d' | '30d' | 'all';
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SessionStatistics;
          };
        };
      };
    };
  };
  '/api/v1/sessions/cost-by-model': {
    /**
     * Tokens and spending of sessions by model
     */
    get: {
      parameters: {
        query?: {
          range?: '24h' | '7d' | '30d' | 'all';
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ModelCost[];
          };
        };
      };
    };
  };
  '/api/v1/sessions/cost-by-user-agent': {
    /**
     * Tokens and spending of sessions by user and type of agent
     */
    get: {
      parameters: {
        query?: {
          range?: '24h' | '7d' | '30d' | 'all';
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': AgentCost[];
          };
        };
      };
    };
  };
  '/api/v1/sessions/{session_id}': {
    /**
     * A session with its last questions and steps
     */
    get: {
      parameters: {
        path: {
          session_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SessionDetail;
          };
        };
      };
    };
  };
  '/api/v1/activity/agents': {
    /**
     * The caller and its agents, with what they did last
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': ActiveAccount[];
          };
        };
      };
    };
  };
  '/api/v1/activity/users': {
    /**
     * The caller and its agents as accounts
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': Account[];
          };
        };
      };
    };
  };
  '/api/v1/activity/spans': {
    /**
     * Where the time of recent requests and runs went; empty unless COGNEE_TRACING_ENABLED is on
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': Trace[];
          };
        };
      };
    };
  };
  '/api/v1/activity/export/{dataset_id}': {
    /**
     * The memory of a dataset as Markdown
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'text/markdown': string;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/supersessions': {
    /**
     * Statements that newer ones have replaced, newest first
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
        query?: {
          limit?: number;
          after?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              supersessions: Supersession[];
              next: string | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/supersessions/{supersession_id}/revert': {
    /**
     * Let the older statement stand again
     */
    post: {
      parameters: {
        path: {
          dataset_id: string;
          supersession_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': Supersession;
          };
        };
      };
    };
  };
  '/api/v1/datasets/snapshots': {
    /**
     * Snapshots of all datasets the caller may read, newest first
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              snapshots: DatasetSnapshot[];
            };
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/snapshots': {
    /**
     * Snapshots of a dataset, newest first
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              snapshots: DatasetSnapshot[];
            };
          };
        };
      };
    };
    /**
     * Take a snapshot: everything of a dataset as it is at one moment, also what is forgotten later
     */
    post: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      requestBody?: {
        content: {
          'application/json': {
            name?: string | null;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DatasetSnapshot;
          };
        };
        '202': {
          content: {
            'application/json': DatasetSnapshot;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}': {
    /**
     * A snapshot, and how far it is
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
          snapshot_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': DatasetSnapshot;
          };
        };
      };
    };
    /**
     * Delete a snapshot
     */
    delete: {
      parameters: {
        path: {
          dataset_id: string;
          snapshot_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': null;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}/file': {
    /**
     * A snapshot as one file, signed by this installation
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
          snapshot_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/octet-stream': Blob;
          };
        };
      };
    };
  };
  '/api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}/restore': {
    /**
     * Make a new dataset of the caller from a snapshot
     */
    post: {
      parameters: {
        path: {
          dataset_id: string;
          snapshot_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            name: string;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SnapshotRestore;
          };
        };
        '202': {
          content: {
            'application/json': SnapshotRestore;
          };
        };
      };
    };
  };
  '/api/v1/datasets/restores': {
    /**
     * Make a new dataset of the caller from the file of a snapshot that this installation signed
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'multipart/form-data': {
            name: string;
            snapshot?: Blob[];
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SnapshotRestore;
          };
        };
        '202': {
          content: {
            'application/json': SnapshotRestore;
          };
        };
      };
    };
  };
  '/api/v1/datasets/restores/{restore_id}': {
    /**
     * How far a restore of the caller is
     */
    get: {
      parameters: {
        path: {
          restore_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SnapshotRestore;
          };
        };
      };
    };
  };
  '/api/v1/improve': {
    /**
     * Persist sessions in the graph of a dataset, learn from them, and enrich the graph
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': ImprovePayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ImproveResult;
          };
        };
      };
    };
  };
  '/api/v1/memify': {
    /**
     * Enrich the graph of a dataset by named tasks
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': MemifyPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            /**
             * By dataset id
             */
            'application/json': {
              [k: string]: PipelineRunInfo;
            };
          };
        };
      };
    };
  };
  '/api/v1/search': {
    /**
     * Search datasets
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': SearchPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SearchResult[] | unknown[];
          };
        };
      };
    };
    /**
     * Own questions and answers, oldest first
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': SearchHistoryItem[];
          };
        };
      };
    };
  };
  '/api/v1/recall': {
    /**
     * Own questions and answers, oldest first
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': RecallHistoryItem[];
          };
        };
      };
    };
    /**
     * Recall from memory: graph and sessions
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': RecallPayloadDTO;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': RecallItem[];
          };
        };
      };
    };
  };
  '/api/v1/recall/sources': {
    /**
     * The passages that the answers of a session were made from
     */
    get: {
      parameters: {
        query: {
          session_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              qa_id: string;
              dataset_id: string;
              dataset_name: string;
              /**
               * Passages; with the fields of `explain` when the question asked for them
               */
              sources: {
                chunk_id: string;
                document_id: string;
                document_name: string;
                source: string;
                chunk_index: number;
                text: string;
                [k: string]: unknown;
              }[];
            }[];
          };
        };
      };
    };
  };
  '/api/v1/responses': {
    /**
     * Answer with tools that search and remember
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': ResponseRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': ResponseBody;
          };
        };
      };
    };
  };
  '/api/v1/visualize': {
    /**
     * A self-contained page that draws the graph of a dataset
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
          full?: boolean;
          query?: string;
          seed_node_ids?: (string | string[]) | null;
          neighborhood_depth?: number;
          neighborhood_seed_top_k?: number;
          max_nodes?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'text/html': string;
          };
        };
      };
    };
  };
  '/api/v1/visualize/json': {
    /**
     * The graph view as JSON, sent in chunks; as events with stream=true
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
          full?: boolean;
          query?: string;
          seed_node_ids?: (string | string[]) | null;
          neighborhood_depth?: number;
          neighborhood_seed_top_k?: number;
          max_nodes?: number;
          stream?: boolean;
          include_session_events?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': Visualisation;
          };
        };
      };
    };
  };
  '/api/v1/visualize/drawing': {
    /**
     * The whole graph without its texts, to draw it
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': Drawing;
          };
        };
      };
    };
  };
  '/api/v1/visualize/semantic': {
    /**
     * Nodes on a plane by their meaning, at most 2000, in groups
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
          full?: boolean;
          query?: string;
          seed_node_ids?: (string | string[]) | null;
          neighborhood_depth?: number;
          neighborhood_seed_top_k?: number;
          max_nodes?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SemanticMap;
          };
        };
      };
    };
  };
  '/api/v1/visualize/brains': {
    /**
     * The best connected part of the graph of each dataset that the caller may read
     */
    get: {
      parameters: {
        query?: {
          max_nodes?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              [k: string]: {
                name: string;
                nodes: {
                  id: string;
                  name: string;
                  type: string;
                  [k: string]: unknown;
                }[];
                links: {
                  source: string;
                  target: string;
                  relation: string;
                  [k: string]: unknown;
                }[];
                node_set_colors: {
                  [k: string]: string;
                };
              };
            };
          };
        };
      };
    };
  };
  '/api/v1/visualize/brains-summary': {
    /**
     * Size and node sets of the graph of each dataset that the caller may read
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              [k: string]: {
                name: string;
                /**
                 * Node sets
                 */
                source_names: string[];
                node_count: number;
                node_set_colors: {
                  [k: string]: string;
                };
              };
            };
          };
        };
      };
    };
  };
  '/api/v1/visualize/multi': {
    /**
     * A page that draws the graphs of datasets of several users as one
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': UserDatasetPair[];
        };
      };
      responses: {
        '200': {
          content: {
            'text/html': string;
          };
        };
      };
    };
  };
  '/api/v1/visualize/live-events': {
    /**
     * Questions and ratings of the caller on a dataset since a time
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
          since?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': LiveEvents;
          };
        };
      };
    };
  };
  '/api/v1/schema/inventory': {
    /**
     * The types of the nodes of a dataset, how many there are, and what they are related to
     */
    get: {
      parameters: {
        query: {
          dataset_id: string;
          samples_per_type?: number;
          /**
           * `count` or `none`
           */
          sort?: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SchemaInventory;
          };
        };
      };
    };
  };
  '/api/v1/schema/provenance': {
    /**
     * A page that draws who has to do with which datasets, files and sessions
     */
    get: {
      parameters: {
        query?: {
          include_memory?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'text/html': string;
          };
        };
      };
    };
  };
  '/api/v1/schema/provenance/json': {
    /**
     * Who has to do with which datasets, files and sessions, as a graph view
     */
    get: {
      parameters: {
        query?: {
          include_memory?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': Visualisation;
          };
        };
      };
    };
  };
  '/api/v1/sync': {
    /**
     * Bring datasets and the remote memory (COGNEE_SERVICE_URL) into step, in the background
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': SyncRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SyncResponse;
          };
        };
      };
    };
  };
  '/api/v1/sync/status': {
    /**
     * Whether a sync of the caller is under way, and how far it has come
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': SyncStatus;
          };
        };
      };
    };
  };
  '/api/v1/sync/runs': {
    /**
     * The last syncs of the caller, newest first
     */
    get: {
      parameters: {
        query?: {
          limit?: number;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              /**
               * Whether a remote memory is configured
               */
              has_remote: boolean;
              runs: {
                run_id: string;
                dataset_ids: string[];
                dataset_names: string[];
                status: 'started' | 'in_progress' | 'completed' | 'failed' | 'cancelled';
                progress_percentage: number;
                uploaded: number;
                downloaded: number;
                passed_over: number;
                error: string | null;
                created_at: string;
                ended_at: string | null;
              }[];
            };
          };
        };
      };
    };
  };
  '/api/sync/{dataset_id}/diff': {
    /**
     * Which files of a dataset another memory has and this one lacks, and the reverse
     */
    post: {
      parameters: {
        path: {
          dataset_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': SyncComparisonRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SyncComparison;
          };
        };
      };
    };
  };
  '/api/sync/{dataset_id}/data/{file}': {
    /**
     * A file that the last comparison named as missing at the sender, by its MD5
     */
    get: {
      parameters: {
        path: {
          dataset_id: string;
          file: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/octet-stream': Blob;
          };
        };
      };
    };
    /**
     * Take in a file of another memory, under the id of its item there
     */
    put: {
      parameters: {
        path: {
          dataset_id: string;
          file: string;
        };
      };
      requestBody: {
        content: {
          'multipart/form-data': SyncUpload;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              data_id: string;
            };
          };
        };
      };
    };
  };
  '/api/sync/{dataset_id}': {
    /**
     * Delete the files that the last comparison named as missing at the sender, and that it does not keep
     */
    put: {
      parameters: {
        path: {
          dataset_id: string;
        };
        query?: {
          /**
           * Without it nothing is deleted
           */
          prune?: boolean;
        };
      };
      requestBody: {
        content: {
          'application/json': SyncPruneRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              deleted_database_entries: number;
              deleted_files_from_storage: number;
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/status': {
    /**
     * All providers with the state of the newest connection of the caller
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': IntegrationStatus;
          };
        };
      };
    };
  };
  '/api/v1/integrations/connections': {
    /**
     * All connections of the caller, newest first, with the progress of their imports
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              connections: IntegrationConnection[];
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/{provider}/authorize': {
    /**
     * Begin to connect an account of a provider: the address that the browser goes to
     */
    post: {
      parameters: {
        path: {
          provider: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              authorizeUrl: string;
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/{provider}/connect': {
    /**
     * Connect what has an address (a folder, a site, a bucket, a cloud drive, a mailbox) or a secret, and start to bring it in
     */
    post: {
      parameters: {
        path: {
          provider: string;
        };
      };
      requestBody: {
        content: {
          'application/json': ConnectRequest;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': IntegrationConnection;
          };
        };
      };
    };
  };
  '/api/v1/integrations/{provider}/connection': {
    /**
     * The connection to a provider, and how its last import went
     */
    get: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': IntegrationConnection;
          };
        };
      };
    };
    /**
     * Disconnect, or take an ended one off the list; what was brought in stays, unless `delete_data` says otherwise
     */
    delete: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
          deleteData?: boolean;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              disconnected: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/{provider}/resources': {
    /**
     * What can be chosen, and what is
     */
    get: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': IntegrationResources;
          };
        };
      };
    };
    /**
     * Choose what is brought in; the next sync removes what is not chosen any more
     */
    put: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      requestBody: {
        content: {
          'application/json': IntegrationSelection;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              selected: string[] | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/{provider}/folders': {
    /**
     * What can be chosen, and what is
     */
    get: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': IntegrationResources;
          };
        };
      };
    };
    /**
     * Choose what is brought in; the next sync removes what is not chosen any more
     */
    put: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      requestBody: {
        content: {
          'application/json': IntegrationSelection;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              selected: string[] | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/{provider}/labels': {
    /**
     * What can be chosen, and what is
     */
    get: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': IntegrationResources;
          };
        };
      };
    };
    /**
     * Choose what is brought in; the next sync removes what is not chosen any more
     */
    put: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      requestBody: {
        content: {
          'application/json': IntegrationSelection;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              selected: string[] | null;
            };
          };
        };
      };
    };
  };
  '/api/v1/integrations/{provider}/sync': {
    /**
     * Bring memory into step with the source now, in the background
     */
    post: {
      parameters: {
        path: {
          provider: string;
        };
        query?: {
          connectionId?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              accepted: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/slack/channels': {
    /**
     * Channels of the connected team, and where the app may be used
     */
    get: {
      parameters: {
        query?: {
          connectionId?: string | null;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SlackChannels;
          };
        };
      };
    };
    /**
     * Choose the channels that the app may be used in and import; none: all
     */
    put: {
      parameters: {
        query?: {
          connectionId?: string | null;
        };
      };
      requestBody: {
        content: {
          'application/json': SlackChannelChoice;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              allowedChannelIds: string[];
            };
          };
        };
      };
    };
  };
  '/api/v1/slack/link': {
    /**
     * Link the account of Slack that a code of /cognee-link names to the caller
     */
    post: {
      parameters: {};
      requestBody: {
        content: {
          'application/json': SlackLink;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': {
              linked: boolean;
            };
          };
        };
      };
    };
  };
  '/api/v1/slack/history/{team_id}/import': {
    /**
     * Bring in channels and threads now; the answer comes when they are
     */
    post: {
      parameters: {
        path: {
          team_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            dataset_id: string;
            channel_ids?: string[];
            /**
             * Links to messages
             */
            thread_links?: string[];
            threads?: {
              channel_id: string;
              ts: string;
            }[];
            days?: number | null;
            oldest?: string | null;
            latest?: string | null;
            /**
             * Threads that began in the time, or had messages in it
             */
            thread_mode?: 'started' | 'active';
            max_requests?: number;
            max_messages?: number;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SlackHistoryImport;
          };
        };
      };
    };
  };
  '/api/v1/slack/history/{team_id}/sync': {
    /**
     * Follow channels and threads from now on, or no longer; without a selection: for every dataset
     */
    put: {
      parameters: {
        path: {
          team_id: string;
        };
      };
      requestBody: {
        content: {
          'application/json': {
            enabled?: boolean;
            selection?: {
              dataset_id: string;
              channel_ids?: string[];
              /**
               * Links to messages
               */
              thread_links?: string[];
              threads?: {
                channel_id: string;
                ts: string;
              }[];
              days?: number | null;
              oldest?: string | null;
              latest?: string | null;
              /**
               * Threads that began in the time, or had messages in it
               */
              thread_mode?: 'started' | 'active';
              max_requests?: number;
              max_messages?: number;
            } | null;
            interval_seconds?: number;
          };
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SlackHistorySync;
          };
        };
      };
    };
  };
  '/api/v1/slack/history/{team_id}': {
    /**
     * Standing imports of a team, and how the last ones went
     */
    get: {
      parameters: {
        path: {
          team_id: string;
        };
      };
      responses: {
        '200': {
          content: {
            'application/json': SlackHistory;
          };
        };
      };
    };
  };
  '/': {
    /**
     * Says that the server runs
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': {
              message: string;
            };
          };
        };
      };
    };
  };
  '/health': {
    /**
     * Whether requests can be served
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': HealthSummary;
          };
        };
      };
    };
  };
  '/health/detailed': {
    /**
     * Health by component
     */
    get: {
      parameters: {};
      responses: {
        '200': {
          content: {
            'application/json': HealthDetails;
          };
        };
      };
    };
  };
}
export interface BodyLoginApiV1AuthLoginPost {
  grant_type?: '' | 'password';
  username: string;
  password: string;
  scope?: string;
  client_id?: string;
  client_secret?: string;
}
export interface BearerResponse {
  access_token: string;
  token_type: 'bearer';
}
export interface UserCreate {
  email: string;
  password: string;
}
export interface UserRead {
  id: string;
  email: string;
  is_active: boolean;
  is_superuser: boolean;
  is_verified: boolean;
  tenant_id: string | null;
  parent_user_id: string | null;
}
export interface UserEmailRequest {
  email: string;
}
export interface UserUpdate {
  email?: string | null;
  password?: string | null;
  is_active?: boolean | null;
  is_superuser?: boolean | null;
  is_verified?: boolean | null;
}
export interface BodyResetResetPasswordApiV1AuthResetPasswordPost {
  token: string;
  password: string;
}
export interface BodyVerifyVerifyApiV1AuthVerifyPost {
  token: string;
}
export interface ApiKey {
  key: string;
  label: string;
  name: string | null;
  id: string;
  user_label: string | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  permissions: ('read' | 'write' | 'delete' | 'share')[] | null;
  datasets: string[] | null;
}
export interface ApiKeyCreationPayload {
  name?: string | null;
  label?: string | null;
  expires_at?: (number | string) | null;
  permissions?: ('read' | 'write' | 'delete' | 'share')[] | null;
  datasets?: string[] | null;
}
export interface AgentDTO {
  agentId: string;
  agentEmail: string;
  apiKeyLabel: string | null;
}
export interface AgentWithApiKeyDTO {
  agentId: string;
  agentEmail: string;
  agentApiKey: string;
}
export interface RegisterAgentRequest {
  agent_session_name: string;
  type?: string;
  memory_mode?: 'session' | 'cognee' | 'hybrid' | 'none' | 'unknown';
  session_id?: string | null;
  /**
   * @maxItems 1000
   */
  dataset_ids?: string[];
  /**
   * @maxItems 1000
   */
  dataset_names?: string[];
  source?: 'agent_memory' | 'session_trace' | 'serve' | 'api_key' | 'mcp' | 'api';
  origin_function?: string | null;
  metadata?: {
    [k: string]: unknown;
  };
}
export interface AgentConnection {
  id: string;
  agent_session_name: string;
  type: string;
  memory_mode: string;
  session_id: string | null;
  user_id: string;
  tenant_id: string | null;
  datasets: {
    id: string | null;
    name: string | null;
    role: string;
    type: string;
  }[];
  last_active_at: string;
  status: string;
  source: string;
  origin_function: string | null;
  metadata: {
    [k: string]: unknown;
  };
}
export interface UnregisterAgentRequest {
  agent_session_name: string;
}
export interface AgentModeDTO {
  activeAgents: number;
}
export interface AgentConnectionList {
  agents: AgentConnection[];
  memory_sources: MemorySource[];
  total: number;
  limit: number;
  offset: number;
  has_more: boolean;
}
export interface MemorySource {
  id: string;
  name: string;
  type: string;
  owner_id: string;
  tenant_id: string | null;
  status: string;
  connected_agent_ids: string[];
  metadata: {
    [k: string]: unknown;
  };
}
export interface AgentConnectionDetail {
  agent: AgentConnection;
  memory_sources: MemorySource[];
  recent_sessions: {
    session_id: string;
    user_id: string;
  }[];
  recent_traces: SessionTrace[];
  recent_qas: SessionQA[];
}
export interface SessionTrace {
  trace_id: string;
  origin_function: string;
  status: string;
  memory_query: string | null;
  memory_context: string | null;
  method_params: unknown;
  method_return_value: unknown;
  error_message: string | null;
  session_feedback: string | null;
}
export interface SessionQA {
  time: string;
  question: string | null;
  context: string | null;
  answer: string | null;
  qa_id: string;
  feedback_text: string | null;
  feedback_score: number | null;
  used_graph_element_ids: {
    [k: string]: string[];
  } | null;
  memify_metadata: unknown;
  used_session_context_ids: unknown;
}
export interface SelectTenantDTO {
  tenant_id?: string | null;
}
export interface Tenant {
  id: string;
  name: string;
}
export interface TenantMember {
  id: string;
  email: string;
  roles: {
    id: string;
    name: string;
  }[];
}
export interface StorePrincipalConfigurationPayloadDTO {
  name: string;
  config: {
    [k: string]: unknown;
  };
}
export interface StoredConfiguration {
  id: string;
  ownerId: string;
  name: string;
  configuration: {
    [k: string]: unknown;
  };
  createdAt: string;
  updatedAt: string | null;
}
export interface SettingsDTO {
  llm: {
    apiKey: string | null;
    model: string;
    provider: string;
    endpoint: string;
    apiVersion: string | null;
    models: {
      [k: string]: ConfigChoice[];
    };
    providers: ConfigChoice[];
  };
  vectorDb: {
    apiKey: string;
    url: string;
    provider: string;
    providers: ConfigChoice[];
  };
}
export interface ConfigChoice {
  value: string;
  label: string;
}
export interface CognifyPayloadDTO {
  datasets?: string[] | null;
  dataset_ids?: string[] | null;
  /**
   * Answer at once; the run goes on
   */
  run_in_background?: boolean | null;
  /**
   * JSON schema of the entities to look for
   */
  graph_model?: {
    [k: string]: unknown;
  } | null;
  /**
   * Instructions to the model that reads the texts
   */
  custom_prompt?: string | null;
  /**
   * Tokens of a passage at most
   */
  chunk_size?: number | null;
  /**
   * Keys of ontologies of the caller
   */
  ontology_key?: string[] | null;
  chunks_per_batch?: number | null;
  data_per_batch?: number | null;
}
export interface PipelineRunInfo {
  status: string;
  pipeline_run_id: string;
  dataset_id: string;
  dataset_name: string;
  /**
   * A blocking cognify: documents, chunks, entities, relationships, duration_ms
   */
  payload: {
    [k: string]: unknown;
  };
  data_ingestion_info:
    | {
        /**
         * PipelineRunInfo of the item
         */
        run_info: {
          [k: string]: unknown;
        };
        data_id?: string;
      }[]
    | null;
  error_class?: string | null;
  error_message?: string | null;
  /**
   * What had no effect, and why
   */
  warnings?: string[];
  /**
   * Inputs that were not stored; absent when all were
   */
  refused?: RefusedInput[];
}
export interface RefusedInput {
  /**
   * Position among the inputs: uploads first, then strings
   */
  index: number;
  /**
   * File name or address; null for a text
   */
  name: string | null;
  error_class: string;
  message: string;
}
export interface PipelineRunStatusWithProgress {
  status: string;
  progress: {
    completed_items: number;
    total_items: number;
    current_stage: string | null;
  } | null;
  /**
   * Of the items that are being built, when they have many
   */
  chunks?: {
    completed: number;
    total: number;
  };
  /**
   * Of a run that failed: what happened, with the class in brackets
   */
  error?: string;
}
export interface DatasetGraphSummaryDTO {
  datasetId: string;
  pipelineRunId: string | null;
  numNodes: number;
  numEdges: number;
  computedAt: string | null;
}
export interface ValidationReport {
  status: 'healthy' | 'degraded' | 'unhealthy';
  summary: {
    graph_nodes: number;
    graph_edges: number;
    node_type_distribution: {
      [k: string]: number;
    };
  };
  issues: ValidationIssue[];
}
export interface ValidationIssue {
  severity: 'error' | 'warning';
  type: string;
  detail: string;
}
export interface CustomPromptGenerationPayloadDTO {
  graphModel: {
    [k: string]: unknown;
  };
  parameters?: {
    [k: string]: unknown;
  };
}
export interface CustomPromptGenerationResponseDTO {
  customPrompt: string;
}
export interface BodyInferSchemaApiV1LlmInferSchemaPost {
  text?: string | null;
  parameters?: string | null;
  data?: Blob[];
}
export interface InferSchemaResponseDTO {
  graphSchema: {
    [k: string]: unknown;
  };
}
export interface BodyAddApiV1AddPost {
  data?: Blob[];
  raw_data?: (string | string[]) | null;
  datasetName?: string | null;
  datasetId?: string;
  node_set?: (string | string[]) | null;
  labels?: (string | unknown[]) | null;
  external_metadata?:
    | (
        | string
        | unknown[]
        | {
            [k: string]: unknown;
          }
      )
    | null;
  run_in_background?: boolean;
}
export interface BodyRememberApiV1RememberPost {
  data?: Blob[];
  raw_data?: (string | string[]) | null;
  datasetName?: string | null;
  datasetId?: string;
  node_set?: (string | string[]) | null;
  labels?: (string | unknown[]) | null;
  external_metadata?:
    | (
        | string
        | unknown[]
        | {
            [k: string]: unknown;
          }
      )
    | null;
  run_in_background?: boolean;
  session_id?: string;
  self_improvement?: boolean | null;
  custom_prompt?: string | null;
  chunk_size?: number;
  chunks_per_batch?: number;
  ontology_key?: (string | string[]) | null;
  graph_model?:
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )
    | null;
  content_type?: string;
  import_mode?: string;
  skills_text?: string | null;
  skill_name?: string | null;
}
export interface RememberResult {
  status: 'completed' | 'running' | 'started' | 'errored' | 'session_stored';
  dataset_name: string;
  dataset_id: string | null;
  pipeline_run_id: string | null;
  items_processed: number;
  elapsed_seconds: number | null;
  session_ids?: string[];
  /**
   * What was stored
   */
  items?: {
    id?: string;
    name?: string;
    [k: string]: unknown;
  }[];
  /**
   * Inputs that were not stored; absent when all were
   */
  refused?: RefusedInput[];
  /**
   * What had no effect, and why
   */
  warnings?: string[];
  error?: string;
  /**
   * ImproveResult
   */
  improve?: {
    [k: string]: unknown;
  };
  improve_error?: string;
  /**
   * Of an entry
   */
  entry_type?: string;
  /**
   * Of an entry
   */
  entry_id?: string | null;
}
export interface BodyUpdateApiV1UpdatePatch {
  data?: Blob[];
  raw_data?: (string | string[]) | null;
  node_set?: (string | string[]) | null;
}
export interface UpdateResult {
  status: 'incremental' | 'unchanged' | 'full_rebuild' | 'failed';
  regions: number | null;
  deleted_chunks: number | null;
  added_chunks: number | null;
  reused_chunks: number | null;
  redated_chunks: number | null;
  kept_chunks: number | null;
  reindexed_chunks: number | null;
  total_chunks: number | null;
  data_id: string;
  dataset_id: string;
  duration_seconds: number;
  pipeline_run_id: string | null;
  fallback: Fallback | null;
  error: UpdateError | null;
}
export interface Fallback {
  reason: string;
  detail: string;
}
export interface UpdateError {
  error_class: string;
  message: string;
}
export interface RememberEntryRequest {
  entry: QAEntry | TraceEntry | FeedbackEntry | SkillRunEntry;
  dataset_name?: string | null;
  dataset_id?: string;
  session_id?: string | null;
  self_improvement?: boolean | null;
  skill_improvement?: {
    [k: string]: unknown;
  } | null;
}
export interface QAEntry {
  type: 'qa';
  question: string;
  answer: string;
  context?: string;
  feedback_text?: string | null;
  feedback_score?: number | null;
  used_graph_element_ids?: {
    node_ids?: string[];
    edge_ids?: string[];
  } | null;
  node_set?: string[] | null;
}
export interface TraceEntry {
  type: 'trace';
  origin_function: string;
  status?: 'success' | 'error';
  method_params?: {
    [k: string]: unknown;
  } | null;
  method_return_value?: unknown;
  memory_query?: string;
  memory_context?: string;
  error_message?: string;
  generate_feedback_with_llm?: boolean;
  node_set?: string[] | null;
}
export interface FeedbackEntry {
  type: 'feedback';
  qa_id: string;
  feedback_text?: string | null;
  feedback_score?: number | null;
}
export interface SkillRunEntry {
  type: 'skill_run';
  run_id?: string | null;
  selected_skill_id: string;
  task_text?: string;
  result_summary?: string;
  success_score?: number | null;
  feedback?: number;
  error_type?: string;
  error_message?: string;
  started_at_ms?: number;
  latency_ms?: number;
  candidate_skill_ids?: string[];
  task_pattern_id?: string;
  router_version?: string;
  tool_trace?: {
    [k: string]: unknown;
  }[];
  node_set?: string;
}
export interface SkillIngestRequest {
  skills_text: string;
  skill_name?: string | null;
  dataset_name?: string | null;
  dataset_id?: string;
}
export interface SkillListItem {
  id: string;
  name: string;
  description: string;
  maintainer: string;
  maintainer_url: string;
  version: string;
  tags: string[];
  license: string;
  declared_tools: string[];
  dataset_scope: string[];
  is_active: boolean;
  source_repo_url: string;
  source_dir: string;
}
export interface SkillDetail {
  id: string;
  name: string;
  description: string;
  maintainer: string;
  maintainer_url: string;
  version: string;
  tags: string[];
  license: string;
  declared_tools: string[];
  dataset_scope: string[];
  is_active: boolean;
  source_repo_url: string;
  source_dir: string;
  procedure: string;
}
export interface BodyUploadOntologyApiV1OntologiesPost {
  ontology_key: string;
  description?: string | null;
  ontology_file?: Blob[];
}
export interface UploadedOntologies {
  uploaded_ontologies: {
    filename: string;
    size_bytes: number;
    uploaded_at: string;
    description: string | null;
    ontology_key: string;
  }[];
}
export interface DeletedOntology {
  status: 'success';
  ontology_key: string;
}
export interface ListedProposal {
  proposal_id: string;
  skill_id: string;
  skill_name: string;
  status: 'proposed' | 'applied';
  confidence: number;
  rationale: string;
  model_name: string;
  old_procedure: string;
  proposed_procedure: string;
  runs_used: string[];
  dataset_scope: string[];
  created_at: string;
  applied_at: string | null;
}
export interface ProposalDetail {
  proposal_id: string;
  skill_id: string;
  skill_name: string;
  status: 'proposed' | 'applied';
  confidence: number;
  rationale: string;
  model_name: string;
  old_procedure: string;
  proposed_procedure: string;
  runs_used: string[];
  dataset_scope: string[];
}
export interface DatasetDTO {
  id: string;
  name: string;
  createdAt: string;
  updatedAt: string | null;
  ownerId: string;
}
export interface DatasetCreationPayload {
  name: string;
}
export interface DataDTO {
  id: string;
  name: string;
  label: string | null;
  createdAt: string;
  updatedAt: string | null;
  extension: string;
  mimeType: string;
  rawDataLocation: string;
  datasetId: string;
  externalMetadata: {
    [k: string]: unknown;
  } | null;
  dataSize: number | null;
  /**
   * Of an item that could not be built
   */
  failure?: {
    errorClass: string;
    message: string;
    tries: number;
    /**
     * Not tried again until requested
     */
    isSetAside: boolean;
    failedAt: string | null;
  };
  /**
   * Label, else file name, else first words, where `excerpts` asks for it
   */
  displayName?: string;
  /**
   * First words of a text without a name, where `excerpts` asks for them
   */
  excerpt?: string;
}
export interface DataCountDTO {
  count: number;
}
export interface GraphDTO {
  nodes: GraphNodeDTO[];
  edges: GraphEdgeDTO[];
}
export interface GraphNodeDTO {
  id: string;
  label: string;
  type: string;
  properties: {
    [k: string]: unknown;
  };
}
export interface GraphEdgeDTO {
  source: string;
  target: string;
  label: string;
}
export interface DatasetProcessingStatusDTO {
  total: number;
  completed: number;
  pending: number;
  /**
   * Of the pending ones, those tried in vain; absent when there is none
   */
  failed?: number;
  items: DataItemProcessingStatusDTO[];
}
export interface DataItemProcessingStatusDTO {
  id: string;
  name: string;
  completed: boolean;
  /**
   * Of an item that was tried in vain
   */
  failure?: {
    error_class: string;
    error_message: string;
    tries: number;
    /**
     * Not tried again until requested: POST /datasets/{id}/data/retry
     */
    is_set_aside: boolean;
    failed_at: string | null;
  };
}
export interface DatasetSchemaResponseDTO {
  graph_schema: {
    [k: string]: unknown;
  } | null;
  custom_prompt: string | null;
}
export interface DatasetSchemaPayloadDTO {
  /**
   * JSON schema with a title; empty: the model of the server
   */
  graph_schema?: {
    [k: string]: unknown;
  } | null;
  /**
   * Empty: the prompt of the server
   */
  custom_prompt?: string | null;
}
export interface ForgetPayloadDTO {
  dataset?: string | null;
  datasetId?: string | null;
  dataId?: string | null;
  everything?: boolean;
  memoryOnly?: boolean;
  [k: string]: unknown;
}
export interface ForgetResult {
  status: 'success';
  dataset_id?: string;
  data_id?: string;
  datasets_removed?: number;
  data_records_reset?: number;
  /**
   * Records that were removed, by kind: `items`, `blobs` (files), `text`, `vectors`, `graph`, `learned` …
   */
  removed: {
    [k: string]: number;
  };
  /**
   * Records that were counted afterwards and are there still: 0
   */
  residue: number;
}
export interface SessionRow {
  session_id: string;
  user_id: string;
  dataset_id: string | null;
  agent_id: string | null;
  status: string;
  started_at: string;
  last_activity_at: string;
  ended_at: string | null;
  tokens_in: number;
  tokens_out: number;
  /**
   * Null: the price is not known
   */
  cost_usd: number | null;
  embedding_tokens: number;
  /**
   * Null: the price is not known
   */
  embedding_cost_usd: number | null;
  error_count: number;
  last_model: string | null;
  effective_status: string;
  /**
   * With `labels`: the first question
   */
  label?: string | null;
}
export interface SessionRowWithAgent {
  session_id: string;
  user_id: string;
  dataset_id: string | null;
  agent_id: string | null;
  status: string;
  started_at: string;
  last_activity_at: string;
  ended_at: string | null;
  tokens_in: number;
  tokens_out: number;
  /**
   * Null: the price is not known
   */
  cost_usd: number | null;
  embedding_tokens: number;
  /**
   * Null: the price is not known
   */
  embedding_cost_usd: number | null;
  error_count: number;
  last_model: string | null;
  effective_status: string;
  /**
   * With `labels`: the first question
   */
  label?: string | null;
  agent_type: string;
  agent_source: string | null;
  agent_session_name: string | null;
  origin_function: string | null;
}
export interface SessionStatistics {
  range: string;
  sessions: number;
  /**
   * Null: the price is not known
   */
  total_spend_usd: number | null;
  /**
   * Null: the price is not known
   */
  avg_spend_per_session_usd: number | null;
  tokens_in: number;
  tokens_out: number;
  tokens_total: number;
  agent_time_s: number;
  avg_session_s: number;
  success_rate: number | null;
  completed: number;
  failed: number;
  abandoned: number;
  running: number;
}
export interface ModelCost {
  model: string;
  session_count: number;
  /**
   * Null: the price is not known
   */
  cost_usd: number | null;
  tokens_in: number;
  tokens_out: number;
}
export interface AgentCost {
  user_id: string;
  user_email: string | null;
  agent_type: string;
  session_count: number;
  /**
   * Null: the price is not known
   */
  cost_usd: number | null;
  tokens_in: number;
  tokens_out: number;
  tokens_total: number;
}
export interface SessionDetail {
  session_id: string;
  user_id: string;
  dataset_id: string | null;
  agent_id: string | null;
  status: string;
  started_at: string;
  last_activity_at: string;
  ended_at: string | null;
  tokens_in: number;
  tokens_out: number;
  /**
   * Null: the price is not known
   */
  cost_usd: number | null;
  embedding_tokens: number;
  /**
   * Null: the price is not known
   */
  embedding_cost_usd: number | null;
  error_count: number;
  last_model: string | null;
  label: string | null;
  msg_count: number;
  tool_calls: number;
  qas: SessionQA[];
  traces: SessionTrace[];
}
export interface ActiveAccount {
  id: string;
  email: string;
  agent_type: string;
  agent_short_id: string;
  is_agent: boolean;
  is_default: boolean;
  status: string;
  api_key_count: number;
  created_at: string;
  last_active: string | null;
}
export interface Account {
  id: string;
  email: string;
  is_superuser: boolean;
  created_at: string;
}
export interface Trace {
  trace_id: string;
  root_name: string;
  duration_ms: number;
  span_count: number;
  status: 'OK' | 'ERROR';
  spans: Span[];
}
export interface Span {
  name: string;
  trace_id: string;
  span_id: string;
  parent_span_id: string | null;
  start_time_ns: number;
  end_time_ns: number;
  duration_ms: number;
  status: 'OK' | 'ERROR';
  attributes: {
    [k: string]: string | number | boolean;
  };
}
export interface Supersession {
  id: string;
  subject: string;
  predicate: string;
  status: 'active' | 'reverted';
  explanation: string;
  reason: 'newer_value' | 'ended';
  older: SupersededSide;
  newer: SupersededSide;
  detected_at: string;
  reverted_at: string | null;
  reverted_by: string | null;
}
export interface SupersededSide {
  text: string;
  value: string;
  data_id: string;
  chunk_id: string;
  asserted_at: string;
  valid_from: string;
  support: number;
}
export interface DatasetSnapshot {
  id: string;
  dataset_id: string;
  status: 'running' | 'complete' | 'failed';
  at: string;
  items: number;
  size_bytes: number;
  sha256: string | null;
  place: string;
  taken_by: string | null;
  done: number;
  total: number;
  failure: {
    name: string;
    message: string;
  } | null;
}
export interface SnapshotRestore {
  id: string;
  name: string;
  status: 'running' | 'complete' | 'failed';
  dataset_id: string | null;
  step: string;
  done: number;
  total: number;
  failure: {
    name: string;
    message: string;
  } | null;
}
export interface ImprovePayloadDTO {
  extractionTasks?: string[] | null;
  enrichmentTasks?: string[] | null;
  data?: string | null;
  datasetName?: string | null;
  datasetId?: string;
  nodeName?: string[] | null;
  runInBackground?: boolean | null;
  buildGlobalContextIndex?: boolean | null;
  buildTruthSubspace?: boolean | null;
  reviewConflicts?: boolean;
  feedbackAlpha?: number | null;
  sessionIds?: string[] | null;
}
export interface ImproveResult {
  dataset_id: string | null;
  dataset_name: string | null;
  session_ids: string[];
  /**
   * One per stage, in stage order
   */
  stages: StageResult[];
  background: boolean;
  finished: boolean;
  error: string | null;
  rerun_requested: boolean;
  rerun_passes: StageResult[][];
  /**
   * By dataset id; empty unless tasks were run
   */
  memify_run: {
    [k: string]: PipelineRunInfo;
  };
  status: 'completed' | 'errored' | 'skipped' | 'running';
}
export interface StageResult {
  stage:
    | 'feedback_weights'
    | 'persist_session_qa'
    | 'persist_agent_traces'
    | 'extract_agent_context'
    | 'distill_sessions'
    | 'update_user_preferences'
    | 'build_truth_subspace'
    | 'triplet_enrichment'
    | 'global_context_index';
  status: 'completed' | 'already_completed' | 'skipped' | 'errored';
  /**
   * Set when skipped
   */
  reason: string | null;
  error: string | null;
  counts: {
    [k: string]: number;
  };
  duration_ms: number;
  /**
   * Of a stage that is a pipeline
   */
  run: PipelineRunInfo | null;
}
export interface MemifyPayloadDTO {
  extractionTasks?: string[] | null;
  enrichmentTasks?: string[] | null;
  data?: string | null;
  datasetName?: string | null;
  datasetId?: string;
  nodeName?: string[] | null;
  runInBackground?: boolean | null;
}
export interface SearchPayloadDTO {
  query: string;
  /**
   * Names; without names and ids all that the caller may read
   */
  datasets?: string[] | null;
  /**
   * Ids; they come before names
   */
  datasetIds?: string[] | null;
  /**
   * Instructions to the model that answers
   */
  systemPrompt?: string | null;
  /**
   * Only what belongs to these node sets
   */
  nodeName?: string[] | null;
  /**
   * Number of results
   */
  topK?: number | null;
  /**
   * What an answer would be made of, without the answer
   */
  onlyContext?: boolean | null;
  /**
   * The conversation that this question belongs to
   */
  sessionId?: string | null;
  /**
   * Name the sources in the answer
   */
  includeReferences?: boolean | null;
  /**
   * With CODE: `operation` and its options; without it the query decides
   */
  codeQuery?: {
    [k: string]: unknown;
  } | null;
  /**
   * Ours: use what improve learned of what is true
   */
  useTruthSubspace?: boolean | null;
  /**
   * Ours: use the summaries of the whole dataset
   */
  useGlobalContext?: boolean | null;
  /**
   * Ours: add to each result why it was found
   */
  explain?: boolean | null;
  /**
   * Ours: leave superseded statements out (default true)
   */
  currentOnly?: boolean | null;
  /**
   * Ours: what held at this date or time
   */
  asOf?: string | null;
  searchType?: SearchType & string;
  skills?: string[] | null;
  tools?: string[] | null;
  maxIter?: number | null;
}
export interface SearchResult {
  dataset_id: string | null;
  dataset_name: string | null;
  dataset_tenant_id: string | null;
  /**
   * Answers are texts, passages and records are objects; a text alone is the context; CODE answers with one object. Of several datasets passages have their `rank` over all
   */
  search_result:
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[]
    | string
    | {
        [k: string]: unknown;
      }
    | null;
  error?: string;
  /**
   * Why the passages of the answer were found
   */
  explain?: {
    [k: string]: unknown;
  };
  /**
   * What the session contributed
   */
  conversation?: {
    [k: string]: unknown;
  };
  global_context?: {
    [k: string]: unknown;
  }[];
  triplets?: {
    [k: string]: unknown;
  }[];
  /**
   * How a type that looks more than once came to its answer
   */
  reasoning?: {
    [k: string]: unknown;
  };
}
export interface SearchHistoryItem {
  id: string;
  text: string;
  user: 'user' | 'system';
  createdAt: string;
  datasetId: string | null;
}
export interface RecallHistoryItem {
  id: string;
  text: string;
  user: 'user' | 'system';
  createdAt: string;
  datasetId: string | null;
}
export interface RecallPayloadDTO {
  query: string;
  /**
   * Names; without names and ids all that the caller may read
   */
  datasets?: string[] | null;
  /**
   * Ids; they come before names
   */
  datasetIds?: string[] | null;
  /**
   * Instructions to the model that answers
   */
  systemPrompt?: string | null;
  /**
   * Only what belongs to these node sets
   */
  nodeName?: string[] | null;
  /**
   * Number of results
   */
  topK?: number | null;
  /**
   * What an answer would be made of, without the answer
   */
  onlyContext?: boolean | null;
  /**
   * The conversation that this question belongs to
   */
  sessionId?: string | null;
  /**
   * Name the sources in the answer
   */
  includeReferences?: boolean | null;
  /**
   * With CODE: `operation` and its options; without it the query decides
   */
  codeQuery?: {
    [k: string]: unknown;
  } | null;
  /**
   * Ours: use what improve learned of what is true
   */
  useTruthSubspace?: boolean | null;
  /**
   * Ours: use the summaries of the whole dataset
   */
  useGlobalContext?: boolean | null;
  /**
   * Ours: add to each result why it was found
   */
  explain?: boolean | null;
  /**
   * Ours: leave superseded statements out (default true)
   */
  currentOnly?: boolean | null;
  /**
   * Ours: what held at this date or time
   */
  asOf?: string | null;
  searchType?: SearchType | null;
  /**
   * Which memories are asked; by default those that fit
   */
  scope?: (string | string[]) | null;
  toolConnections?: string[] | null;
  /**
   * Answer with server-sent events
   */
  stream?: boolean | null;
  toolsTrigger?: string | null;
  contextProfile?: string | null;
  /**
   * JSON schema of the answer
   */
  responseSchema?: {
    [k: string]: unknown;
  } | null;
}
export interface RecalledFromGraph {
  kind: string;
  search_type: SearchTypeOutput;
  /**
   * The answer, or the text of what was found
   */
  text: string;
  system_prompt: string | null;
  score: number | null;
  dataset_id: string | null;
  dataset_name: string | null;
  /**
   * Of a passage: data_id, chunk_id, chunk_index, document_name; with `explain` why; with references `evidence` of an answer; `nearest`: quotes that come nearest to a question that memory does not answer
   */
  metadata: {
    [k: string]: unknown;
  };
  raw: {
    [k: string]: unknown;
  };
  /**
   * The answer by `responseSchema`, else null
   */
  structured: {
    [k: string]: unknown;
  };
  source: 'graph';
}
export interface RecalledQuestion {
  time: string;
  question: string | null;
  context: string | null;
  answer: string | null;
  qa_id: string;
  feedback_text: string | null;
  feedback_score: number | null;
  used_graph_element_ids: {
    [k: string]: string[];
  } | null;
  memify_metadata: unknown;
  used_session_context_ids: unknown;
  source: 'session';
  explain?: {
    [k: string]: unknown;
  };
}
export interface RecalledStep {
  trace_id: string;
  origin_function: string;
  status: string;
  memory_query: string | null;
  memory_context: string | null;
  method_params: unknown;
  method_return_value: unknown;
  error_message: string | null;
  session_feedback: string | null;
  source: 'trace';
  explain?: {
    [k: string]: unknown;
  };
}
export interface RecalledGuidance {
  source: 'session_context';
  content: string;
  context_profile: string;
  explain?: {
    [k: string]: unknown;
  };
}
export interface OfferedSkill {
  source: 'skills';
  text: string;
  skill: string;
  score: number | null;
}
/**
 * Nothing is built yet, or the last run failed
 */
export interface MemoryNotReady {
  source: 'system';
  status: string;
  text: string;
  datapoint_count: number;
  threshold: number;
  error_class: string | null;
  error_message: string | null;
}
export interface ResponseRequest {
  /**
   * The only one there is
   */
  model?: 'cognee-v1';
  /**
   * A text, or messages, the last of which is answered
   */
  input:
    | string
    | {
        role: 'user' | 'assistant' | 'system' | 'developer';
        content:
          | string
          | {
              type: string;
              text?: string | null;
              [k: string]: unknown;
            }[];
        [k: string]: unknown;
      }[];
  instructions?: string | null;
  /**
   * Functions; absent: `search` and `cognify`, which this server runs
   */
  tools?:
    | (
        | {
            type: 'function';
            function: {
              name: string;
              description?: string | null;
              parameters?: {
                [k: string]: unknown;
              } | null;
            };
          }
        | {
            type: 'function';
            name: string;
            description?: string | null;
            parameters?: {
              [k: string]: unknown;
            } | null;
          }
      )[]
    | null;
  /**
   * `auto`, `none`, `required`, or one function
   */
  toolChoice?:
    | (
        | string
        | {
            type: 'function';
            function: {
              name: string;
            };
          }
        | {
            type: 'function';
            name: string;
          }
      )
    | null;
  user?: string | null;
  temperature?: number | null;
  maxCompletionTokens?: number | null;
  maxOutputTokens?: number | null;
  metadata?: {
    [k: string]: unknown;
  } | null;
  /**
   * Not supported
   */
  stream?: boolean | null;
}
export interface ResponseBody {
  id: string;
  created: number;
  model: 'cognee-v1';
  object: 'response';
  status: 'completed';
  /**
   * The functions that were called, with what they returned
   */
  toolCalls: {
    id: string;
    type: 'function';
    function: {
      name: string;
      arguments: string;
    };
    output: {
      status: 'success' | 'error';
      data: {
        result: unknown;
      };
    };
  }[];
  /**
   * The same calls and the answer, as OpenAI has them
   */
  output: {
    type: string;
    [k: string]: unknown;
  }[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    [k: string]: unknown;
  };
  metadata: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface Visualisation {
  nodes: {
    id: string;
    name: string;
    type: string;
    [k: string]: unknown;
  }[];
  links: {
    source: string;
    target: string;
    relation: string;
    [k: string]: unknown;
  }[];
  color_maps: {
    [k: string]: unknown;
  };
  schema_graph: {
    [k: string]: unknown;
  };
  schema_data: {
    [k: string]: unknown;
  } | null;
  pipeline_stages: string[];
  edge_classes: {
    [k: string]: number;
  };
  bundles: {
    [k: string]: number;
  };
  provenance_index: {
    [k: string]: unknown;
  };
  has_meaningful_topological_rank: boolean;
  memory_map: unknown;
  search_events: unknown[];
}
export interface Drawing {
  nodes: {
    id: string;
    name: string;
    type: string;
    entity_type?: string;
  }[];
  relations: {
    name: string;
    edge_class: 'structural' | 'semantic';
  }[];
  links: (number | string[])[][];
}
export interface SemanticMap {
  semantic_positions: {
    [k: string]: {
      x: number;
      y: number;
    };
  } | null;
  semantic_clusters: {
    clusters: {
      id: number;
      label: string;
      node_ids: string[];
      size: number;
    }[];
    node_cluster: {
      [k: string]: number;
    };
    neighbors: {
      [k: string]: string[];
    };
  } | null;
}
export interface UserDatasetPair {
  user_id: string;
  dataset_id: string;
}
export interface LiveEvents {
  events: {
    kind: 'search' | 'improve';
    [k: string]: unknown;
  }[];
  cursor: string | null;
}
export interface SyncRequest {
  datasetIds?: string[] | null;
}
export interface SyncResponse {
  run_id: string;
  dataset_ids: string[];
  dataset_names: string[];
  status: 'started';
  message: string;
  timestamp: string;
  user_id: string;
}
export interface SyncStatus {
  has_running_sync: boolean;
  running_sync_count: number;
  latest_running_sync?: {
    run_id: string;
    dataset_ids: string[];
    dataset_names: string[];
    progress_percentage: number;
    created_at: string;
  };
}
export interface SyncComparisonRequest {
  dataset_id: string;
  dataset_name: string;
  /**
   * MD5 of the files of the sender
   */
  hashes: string[];
}
export interface SyncComparison {
  missing_on_remote: string[];
  missing_on_local: string[];
}
export interface SyncUpload {
  dataset_id: string;
  dataset_name: string;
  data_id: string;
  md5: string;
  mime_type?: string;
  /**
   * For a file whose name has none
   */
  extension?: string;
  file?: Blob[];
}
export interface SyncPruneRequest {
  /**
   * MD5 of the files that the sender keeps
   */
  items: string[];
}
export interface IntegrationStatus {
  integrations: {
    provider: string;
    /**
     * Whether this server can connect it
     */
    configured: boolean;
    /**
     * Whether people connect it by signing in there
     */
    oauth: boolean;
    connected: boolean;
    accountLabel: string | null;
    providerAccountId: string | null;
    connectedAt: string | null;
    syncStatus: ('ok' | 'degraded' | 'syncing') | null;
    lastSyncedAt: string | null;
    syncCounts: {
      scanned: number;
      skipped: number;
      failed: number;
      failed_ingestion?: number;
      failed_source?: number;
      failed_auth?: number;
      failed_budget?: number;
      failed_not_found?: number;
    } | null;
  }[];
  plugins: {
    key: string;
    connected: boolean;
    agentId: string | null;
    provisionedAt: string | null;
    lastActiveAt: string | null;
    sessionCount: number;
    source: ('identity' | 'sessions-legacy' | 'registry') | null;
  }[];
}
export interface IntegrationConnection {
  connected: boolean;
  connectionId?: string;
  provider?: string;
  accountLabel?: string;
  providerAccountId?: string;
  connectedAt?: string;
  datasetId?: string;
  datasetName?: string;
  /**
   * Documents of the source that there are items of
   */
  storedItems?: number;
  /**
   * What was chosen; null: everything
   */
  selected?: string[] | null;
  /**
   * Kinds of documents that are not brought in
   */
  leftOut?: string[];
  /**
   * Whether there is anything to choose
   */
  selectable?: boolean;
  /**
   * Whether everything can be brought in, without a choice
   */
  allowsAll?: boolean;
  /**
   * Id of the connection whose account an import into another dataset uses
   */
  partOf?: string;
  /**
   * Null before the first import
   */
  syncStatus?: ('ok' | 'degraded' | 'syncing') | null;
  lastSyncedAt?: string | null;
  nextSyncAt?: string;
  syncCounts?: {
    scanned: number;
    skipped: number;
    failed: number;
    failed_ingestion?: number;
    failed_source?: number;
    failed_auth?: number;
    failed_budget?: number;
    failed_not_found?: number;
  };
  /**
   * Of the import under way, in documents
   */
  progress?: {
    done: number;
    total: number | null;
  };
  /**
   * The source asked to wait until then
   */
  waitingUntil?: string;
  /**
   * Why the last import is degraded, or the provider ended the connection
   */
  error?: string;
  /**
   * Why somebody may see less of it here than at the source
   */
  accessNote?: string;
  /**
   * Its name in `spec.sources` of the Dataset resource that declares it; only there it is changed
   */
  declaredAs?: string;
}
export interface ConnectRequest {
  address: string;
  userName?: string | null;
  /**
   * Kept sealed, and read by the connector alone
   */
  password?: string | null;
  datasetName?: string | null;
}
export interface IntegrationResources {
  resources: {
    id: string;
    name: string;
    description: string | null;
    attributes: {
      [k: string]: unknown;
    };
    selected: boolean;
  }[];
  selected: string[] | null;
  /**
   * Kinds of documents that can be left out, where the provider has several
   */
  kinds?: {
    id: string;
    name: string;
    selected: boolean;
  }[];
}
export interface IntegrationSelection {
  resourceIds?: string[] | null;
  /**
   * Kinds of documents to bring in; null: all, absent: those of before
   */
  kinds?: string[] | null;
}
export interface SlackChannels {
  channels: {
    id: string;
    name: string;
    isPrivate: boolean;
    allowed: boolean;
  }[];
}
export interface SlackChannelChoice {
  /**
   * Empty: every channel
   */
  channelIds: string[];
}
export interface SlackLink {
  code: string;
}
export interface SlackHistoryImport {
  dataset_id: string;
  conversations: number;
  messages: number;
  added: number;
  updated: number;
  unchanged: number;
  deleted: number;
  status: 'completed';
}
export interface SlackHistorySync {
  enabled: boolean;
  selection: SlackHistorySelection | null;
  interval_seconds: number;
}
export interface SlackHistorySelection {
  dataset_id: string;
  channel_ids: string[];
  thread_links: string[];
  threads: {
    channel_id: string;
    ts: string;
  }[];
  oldest: string | null;
  latest: string | null;
  thread_mode: 'started' | 'active';
  max_requests: number;
  max_messages: number;
}
export interface SlackHistory {
  /**
   * Standing imports, by dataset
   */
  sync: {
    [k: string]: SlackHistorySync;
  };
  /**
   * How the last import went, by dataset
   */
  reports: {
    [k: string]: {
      status: 'running' | 'completed' | 'failed';
      started_at: string | null;
      finished_at: string | null;
      result?: SlackHistoryImport;
      error?: string;
    };
  };
  worker_enabled: boolean;
}
export interface HealthSummary {
  status: 'ready' | 'not ready';
  health: 'healthy' | 'degraded' | 'unhealthy';
  version: string;
}
export interface HealthDetails {
  status: 'healthy' | 'degraded' | 'unhealthy';
  timestamp: string;
  version: string;
  uptime: number;
  components: {
    [k: string]: {
      status: 'healthy' | 'degraded' | 'unhealthy';
      provider: string;
      response_time_ms: number;
      details: string;
    };
  };
}
export interface Components {
  schemas: {
    Body_login_api_v1_auth_login_post: BodyLoginApiV1AuthLoginPost;
    BearerResponse: BearerResponse;
    HTTPValidationError: HTTPValidationError;
    ValidationError: ValidationError;
    ErrorDetail: ErrorDetail;
    ErrorMessage: ErrorMessage;
    OAuthError: OAuthError;
    UserCreate: UserCreate;
    UserRead: UserRead;
    UserEmailRequest: UserEmailRequest;
    UserUpdate: UserUpdate;
    Body_reset_reset_password_api_v1_auth_reset_password_post: BodyResetResetPasswordApiV1AuthResetPasswordPost;
    Body_verify_verify_api_v1_auth_verify_post: BodyVerifyVerifyApiV1AuthVerifyPost;
    ApiKey: ApiKey;
    ApiKeyCreationPayload: ApiKeyCreationPayload;
    AgentDTO: AgentDTO;
    AgentWithApiKeyDTO: AgentWithApiKeyDTO;
    RegisterAgentRequest: RegisterAgentRequest;
    AgentConnection: AgentConnection;
    UnregisterAgentRequest: UnregisterAgentRequest;
    AgentModeDTO: AgentModeDTO;
    AgentConnectionList: AgentConnectionList;
    MemorySource: MemorySource;
    AgentConnectionDetail: AgentConnectionDetail;
    SessionTrace: SessionTrace;
    SessionQA: SessionQA;
    SelectTenantDTO: SelectTenantDTO;
    Tenant: Tenant;
    TenantMember: TenantMember;
    ScimError: ScimError;
    StorePrincipalConfigurationPayloadDTO: StorePrincipalConfigurationPayloadDTO;
    StoredConfiguration: StoredConfiguration;
    SettingsDTO: SettingsDTO;
    ConfigChoice: ConfigChoice;
    CognifyPayloadDTO: CognifyPayloadDTO;
    PipelineRunInfo: PipelineRunInfo;
    RefusedInput: RefusedInput;
    PipelineRunStatusWithProgress: PipelineRunStatusWithProgress;
    DatasetGraphSummaryDTO: DatasetGraphSummaryDTO;
    ValidationReport: ValidationReport;
    ValidationIssue: ValidationIssue;
    CustomPromptGenerationPayloadDTO: CustomPromptGenerationPayloadDTO;
    CustomPromptGenerationResponseDTO: CustomPromptGenerationResponseDTO;
    Body_infer_schema_api_v1_llm_infer_schema_post: BodyInferSchemaApiV1LlmInferSchemaPost;
    InferSchemaResponseDTO: InferSchemaResponseDTO;
    Body_add_api_v1_add_post: BodyAddApiV1AddPost;
    Body_remember_api_v1_remember_post: BodyRememberApiV1RememberPost;
    RememberResult: RememberResult;
    Body_update_api_v1_update_patch: BodyUpdateApiV1UpdatePatch;
    UpdateResult: UpdateResult;
    Fallback: Fallback;
    UpdateError: UpdateError;
    RememberEntryRequest: RememberEntryRequest;
    QAEntry: QAEntry;
    TraceEntry: TraceEntry;
    FeedbackEntry: FeedbackEntry;
    SkillRunEntry: SkillRunEntry;
    SkillIngestRequest: SkillIngestRequest;
    SkillListItem: SkillListItem;
    SkillDetail: SkillDetail;
    Body_upload_ontology_api_v1_ontologies_post: BodyUploadOntologyApiV1OntologiesPost;
    UploadedOntologies: UploadedOntologies;
    DeletedOntology: DeletedOntology;
    ListedProposal: ListedProposal;
    ProposalDetail: ProposalDetail;
    DatasetDTO: DatasetDTO;
    DatasetCreationPayload: DatasetCreationPayload;
    DataDTO: DataDTO;
    DataCountDTO: DataCountDTO;
    GraphDTO: GraphDTO;
    GraphNodeDTO: GraphNodeDTO;
    GraphEdgeDTO: GraphEdgeDTO;
    DatasetProcessingStatusDTO: DatasetProcessingStatusDTO;
    DataItemProcessingStatusDTO: DataItemProcessingStatusDTO;
    DatasetSchemaResponseDTO: DatasetSchemaResponseDTO;
    DatasetSchemaPayloadDTO: DatasetSchemaPayloadDTO;
    ForgetPayloadDTO: ForgetPayloadDTO;
    ForgetResult: ForgetResult;
    SessionRow: SessionRow;
    SessionRowWithAgent: SessionRowWithAgent;
    SessionStatistics: SessionStatistics;
    ModelCost: ModelCost;
    AgentCost: AgentCost;
    SessionDetail: SessionDetail;
    ActiveAccount: ActiveAccount;
    Account: Account;
    Trace: Trace;
    Span: Span;
    Supersession: Supersession;
    SupersededSide: SupersededSide;
    DatasetSnapshot: DatasetSnapshot;
    SnapshotRestore: SnapshotRestore;
    ImprovePayloadDTO: ImprovePayloadDTO;
    ImproveResult: ImproveResult;
    StageResult: StageResult;
    MemifyPayloadDTO: MemifyPayloadDTO;
    SearchPayloadDTO: SearchPayloadDTO;
    SearchType: SearchType;
    SearchResult: SearchResult;
    SearchHistoryItem: SearchHistoryItem;
    RecallHistoryItem: RecallHistoryItem;
    RecallPayloadDTO: RecallPayloadDTO;
    RecallItem: RecallItem;
    RecalledFromGraph: RecalledFromGraph;
    SearchTypeOutput: SearchTypeOutput;
    RecalledQuestion: RecalledQuestion;
    RecalledStep: RecalledStep;
    RecalledGuidance: RecalledGuidance;
    OfferedSkill: OfferedSkill;
    MemoryNotReady: MemoryNotReady;
    ResponseRequest: ResponseRequest;
    ResponseBody: ResponseBody;
    Visualisation: Visualisation;
    Drawing: Drawing;
    SemanticMap: SemanticMap;
    UserDatasetPair: UserDatasetPair;
    LiveEvents: LiveEvents;
    SchemaInventory: SchemaInventory;
    SyncRequest: SyncRequest;
    SyncResponse: SyncResponse;
    SyncStatus: SyncStatus;
    SyncComparisonRequest: SyncComparisonRequest;
    SyncComparison: SyncComparison;
    SyncUpload: SyncUpload;
    SyncPruneRequest: SyncPruneRequest;
    IntegrationStatus: IntegrationStatus;
    IntegrationConnection: IntegrationConnection;
    ConnectRequest: ConnectRequest;
    IntegrationResources: IntegrationResources;
    IntegrationSelection: IntegrationSelection;
    SlackChannels: SlackChannels;
    SlackChannelChoice: SlackChannelChoice;
    SlackLink: SlackLink;
    SlackHistoryImport: SlackHistoryImport;
    SlackHistorySync: SlackHistorySync;
    SlackHistorySelection: SlackHistorySelection;
    SlackHistory: SlackHistory;
    HealthSummary: HealthSummary;
    HealthDetails: HealthDetails;
  };
}
export interface HTTPValidationError {
  detail: ValidationError[];
  /**
   * What was sent, shortened; secrets are masked
   */
  body?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ValidationError {
  /**
   * Where: the part of the request, then the way to the value
   */
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface ErrorDetail {
  /**
   * What is wrong. The class of a service error stands in brackets at its end.
   */
  detail:
    | string
    | {
        code: string;
        reason: string;
      };
  [k: string]: unknown;
}
export interface ErrorMessage {
  error:
    | string
    | {
        message: string;
      };
  detail?: string | null;
  [k: string]: unknown;
}
export interface OAuthError {
  error: string;
  error_description?: string;
}
export interface ScimError {
  schemas: string[];
  status: string;
  scimType?: string;
  detail: string;
}

export const operationTraits: Readonly<Record<string, { readonly idempotent?: boolean; readonly keyed?: boolean; readonly form?: string }>> = {
  'POST /api/v1/auth/login': {"idempotent":true,"form":"application/x-www-form-urlencoded"},
  'POST /api/v1/auth/logout': {"idempotent":true},
  'POST /api/v1/auth/device/code': {"form":"application/x-www-form-urlencoded"},
  'POST /api/v1/auth/oauth/token': {"form":"application/x-www-form-urlencoded"},
  'POST /api/v1/users/get-user-id': {"idempotent":true},
  'POST /api/v1/agents/register': {"keyed":true},
  'POST /api/v1/agents/unregister': {"idempotent":true},
  'POST /api/v1/permissions/tenants/select': {"idempotent":true},
  'POST /api/v1/permissions/users/{user_id}/roles': {"idempotent":true},
  'POST /api/v1/permissions/datasets/{principal_id}': {"idempotent":true},
  'POST /api/v1/permissions/capabilities/{principal_id}': {"idempotent":true},
  'POST /api/v1/settings': {"idempotent":true},
  'POST /api/v1/checks/connection': {"idempotent":true},
  'POST /api/v1/cognify': {"idempotent":true},
  'POST /api/cognify': {"idempotent":true},
  'POST /api/v1/llm/custom-prompt': {"idempotent":true},
  'POST /api/v1/llm/infer-schema': {"form":"multipart/form-data"},
  'POST /api/v1/add': {"idempotent":true,"form":"multipart/form-data"},
  'POST /api/v1/remember': {"keyed":true,"form":"multipart/form-data"},
  'PATCH /api/v1/update': {"idempotent":true,"form":"multipart/form-data"},
  'POST /api/v1/remember/entry': {"keyed":true},
  'POST /api/v1/skills': {"keyed":true},
  'POST /api/v1/ontologies': {"form":"multipart/form-data"},
  'POST /api/v1/proposals/{proposal_id}/apply': {"idempotent":true},
  'POST /api/v1/datasets': {"idempotent":true},
  'POST /api/v1/datasets/{dataset_id}/data/retry': {"idempotent":true},
  'POST /api/v1/forget': {"idempotent":true},
  'POST /api/v1/datasets/{dataset_id}/supersessions/{supersession_id}/revert': {"idempotent":true},
  'POST /api/v1/datasets/{dataset_id}/snapshots': {"keyed":true},
  'POST /api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}/restore': {"keyed":true},
  'POST /api/v1/datasets/restores': {"form":"multipart/form-data"},
  'POST /api/v1/improve': {"keyed":true},
  'POST /api/v1/memify': {"keyed":true},
  'POST /api/v1/search': {"idempotent":true},
  'POST /api/v1/recall': {"idempotent":true},
  'POST /api/v1/responses': {"idempotent":true},
  'POST /api/v1/sync': {"keyed":true},
  'POST /api/sync/{dataset_id}/diff': {"idempotent":true},
  'PUT /api/sync/{dataset_id}/data/{file}': {"form":"multipart/form-data"},
};
