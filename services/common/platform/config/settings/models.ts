import * as type from '../value-types.ts';
import { optional, setting } from './setting.ts';

export const models = {
  llmProvider: optional({
    names: ['LLM_PROVIDER'],
    section: 'Models',
    type: type.text().transform((value) => value.trim().toLowerCase()),
    shownDefault: 'the first part of `LLM_MODEL`, else `openai` once a key or endpoint is set',
    meaning:
      'openai, anthropic, gemini, mistral, ollama, or custom for any OpenAI-compatible server (it needs the endpoint).',
  }),
  llmModel: optional({
    names: ['LLM_MODEL'],
    section: 'Models',
    type: type.text(),
    shownDefault: 'by provider',
    meaning: 'Model name; a provider prefix as in `openai/gpt-5-mini` is understood.',
  }),
  llmEndpoint: optional({
    names: ['LLM_ENDPOINT'],
    section: 'Models',
    type: type.httpUrl(),
    meaning: 'Base URL of the provider. With neither this nor a key, nor a provider, no language model is used.',
  }),
  llmApiKey: optional({
    names: ['LLM_API_KEY'],
    section: 'Models',
    type: type.text(),
    secret: true,
    meaning: 'Its key.',
  }),
  llmTemperature: optional({
    names: ['LLM_TEMPERATURE'],
    section: 'Models',
    type: type.number({ min: 0, max: 2 }),
    shownDefault: 'the provider’s',
    meaning: 'Sampling temperature; sent only when set, because some models refuse it.',
  }),
  llmAnswerStreaming: setting({
    names: ['LLM_ANSWER_STREAMING'],
    section: 'Models',
    type: type.flag(),
    default: 'false',
    meaning: 'A streamed recall sends the answer in pieces while the model writes it.',
  }),
  llmMaxCompletionTokens: setting({
    names: ['LLM_MAX_COMPLETION_TOKENS'],
    section: 'Models',
    type: type.integer({ min: 1 }),
    default: '16384',
    meaning: 'Greatest number of tokens of one answer of the model. Not sent: half of it bounds a chunk.',
  }),
  tenantModelHosts: setting({
    names: ['ENGRAM_TENANT_MODEL_HOSTS'],
    section: 'Models',
    type: type.hostList(),
    default: '',
    meaning:
      'Hosts on private networks that the models of `Tenant` resources may be on, as in `vllm.models.svc:8000,10.0.0.7`; without a port all of its ports. Their models are else asked at public addresses only. Says nothing about the models of the server.',
  }),
  embeddingProvider: optional({
    names: ['EMBEDDING_PROVIDER'],
    section: 'Models',
    type: type.text().transform((value) => value.trim().toLowerCase()),
    shownDefault: '`openai` once a key, endpoint or model is set',
    meaning:
      'openai, gemini, mistral, ollama, or custom for any OpenAI-compatible server (it needs the endpoint). Nothing set = the built-in embedder. A dataset with vectors keeps the model that made them (the log of cognify says so), until its memory is forgotten (`engram forget --memory-only`) and built again, or its `Dataset` resource moves it.',
  }),
  embeddingModel: optional({
    names: ['EMBEDDING_MODEL'],
    section: 'Models',
    type: type.text(),
    shownDefault: '`text-embedding-3-large`',
    meaning: 'Model name.',
  }),
  embeddingDimensions: optional({
    names: ['EMBEDDING_DIMENSIONS'],
    section: 'Models',
    type: type.integer({ min: 1, max: 65_536 }),
    shownDefault: 'by model, else 3072',
    meaning: 'Length of its vectors. A dataset keeps the dimensions that it was made with.',
  }),
  embeddingEndpoint: optional({
    names: ['EMBEDDING_ENDPOINT', 'EMBEDDING_API_BASE'],
    section: 'Models',
    type: type.httpUrl(),
    meaning: 'Base URL of the provider.',
  }),
  embeddingApiKey: optional({
    names: ['EMBEDDING_API_KEY'],
    section: 'Models',
    type: type.text(),
    secret: true,
    shownDefault: '`LLM_API_KEY`',
    meaning: 'Its key.',
  }),
  embeddingBatchSize: setting({
    names: ['EMBEDDING_BATCH_SIZE'],
    section: 'Models',
    type: type.integer({ min: 1, max: 2_048 }),
    default: '32',
    meaning: 'Texts per call.',
  }),
  embeddingMaxCompletionTokens: setting({
    names: ['EMBEDDING_MAX_COMPLETION_TOKENS'],
    section: 'Models',
    type: type.integer({ min: 1 }),
    default: '4096',
    meaning: 'Greatest number of tokens of one embedded text; bounds the chunk size.',
  }),
};
