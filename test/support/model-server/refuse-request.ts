import type { ServerResponse } from 'node:http';
import { countPrompt } from './answer.ts';
import { type CompletionBody, findLooseObjects } from './completion-body.ts';
import { sendContextOverflow, sendError, sendUnknownModel, sendUnknownParameter } from './send-error.ts';
import { type EndpointTraits, type ModelServerOptions, modelsOf } from './server-options.ts';

/** What this endpoint doesn't know or can't do. @returns whether the request was refused */
export function refuseRequest(
  response: ServerResponse,
  body: CompletionBody,
  options: ModelServerOptions,
): boolean {
  const endpoint = options.endpoint ?? {};
  const parameter = endpoint.refusedParameters?.find((name) => name in body);
  const invalid = findUnsupported(body, endpoint) ?? findInvalidLength(body, endpoint);
  const prompt = countPrompt(body);
  const longest = body.max_completion_tokens ?? body.max_tokens ?? 0;
  if (!modelsOf(options).includes(body.model)) sendUnknownModel(response, body.model);
  else if (parameter !== undefined) sendUnknownParameter(response, parameter);
  else if (invalid !== undefined) sendError(response, 400, { ...invalid, type: 'invalid_request_error' });
  else if (endpoint.contextTokens !== undefined && prompt + longest > endpoint.contextTokens)
    sendContextOverflow(response, endpoint.contextTokens, prompt, longest);
  else return false;
  return true;
}

function findUnsupported(
  body: CompletionBody,
  { streaming, structuredOutput }: EndpointTraits,
): { readonly message: string; readonly param: string } | undefined {
  if (body.stream === true && streaming === false)
    return { message: 'Streaming is not supported by this server.', param: 'stream' };
  if (body.stream_options != null && body.stream !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    return { message, param: 'stream_options' };
  }
  const format = body.response_format;
  if (format?.type !== 'json_schema') return undefined;
  if (structuredOutput === false) {
    const message = "response_format of type 'json_schema' is not supported.";
    return { message, param: 'response_format' };
  }
  const { name, strict, schema } = format.json_schema;
  const loose = strict === true ? findLooseObjects(schema)[0] : undefined;
  if (loose === undefined) return undefined;
  const message = `Invalid schema for response_format '${name}': In context=${loose}, 'additionalProperties' is required to be supplied and to be false, and 'required' to list every key.`;
  return { message, param: 'response_format' };
}

function findInvalidLength(
  body: CompletionBody,
  { longestAnswer, wantsCompletionTokens }: EndpointTraits,
): { readonly message: string; readonly param: string } | undefined {
  const param = body.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens';
  if (wantsCompletionTokens === true && body.max_tokens != null) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    return { message, param };
  }
  const wanted = body[param] ?? 0;
  if (longestAnswer === undefined || wanted <= longestAnswer) return undefined;
  const message = `${param} is too large: ${wanted}. This model supports at most ${longestAnswer} completion tokens, whereas you provided ${wanted}.`;
  return { message, param };
}
