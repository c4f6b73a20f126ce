const tokens = 'a whole number of tokens, at most 1000000000';
const usd = 'an amount of USD, such as 2.5';
const seconds = 'a whole number of seconds from 1 to 7200';
const sampling = {
  temperature: 'a number from 0 to 2',
  seed: 'a whole number from 0 to 4294967295',
  reasoning_effort: 'none, minimal, low, medium or high',
  max_output_tokens: 'a whole number from 256 to 1000000',
};

/** What each setting of a language model may be, in words; a test holds the keys against the schema. */
export const settingExpectations: Readonly<Record<string, string>> = {
  base_url:
    'the address of an OpenAI-compatible API up to and including /v1, such as http://localhost:11434/v1',
  api_key_env: 'the name of an environment variable in capitals, such as OPENAI_API_KEY',
  model: 'the name of a model, of at most 200 characters',
  ...sampling,
  roles: 'implementer, reviewer, diagnoser or optimizer, each with settings of its own',
  'roles.*': 'model, temperature, seed, reasoning_effort or max_output_tokens',
  'roles.*.model': 'the name of a model, of at most 200 characters',
  ...Object.fromEntries(Object.entries(sampling).map(([name, text]) => [`roles.*.${name}`, text])),
  context_tokens: 'a whole number of tokens from 2048 to 10000000',
  concurrency: 'a whole number from 1 to 64',
  timeout_seconds: seconds,
  stall_seconds: seconds,
  structured_output: 'auto, json_schema or fenced',
  prices: 'models, each with input and output in USD for a million tokens',
  'prices.*': 'input and output (and cached_input) in USD for a million tokens',
  'prices.*.input': usd,
  'prices.*.cached_input': usd,
  'prices.*.output': usd,
  limits: 'a mapping of limits',
  'limits.soft_tokens': tokens,
  'limits.hard_tokens': tokens,
  'limits.soft_usd': usd,
  'limits.hard_usd': usd,
  'limits.tokens_per_day': tokens,
  'limits.attempts_per_contract': 'a whole number from 1 to 20',
  'limits.rounds': 'a whole number from 1 to 10',
  review: 'true or false',
  optimizations: 'a whole number from 0 to 50',
  real_model: 'true, or false for a stand-in',
};
