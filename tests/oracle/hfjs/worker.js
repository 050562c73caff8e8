// Answers each line {template, context, now} with {text} or {error} from the real @huggingface/jinja.
import { createInterface } from "node:readline";
import { Template } from "@huggingface/jinja";

const RealDate = Date;
let now = null;

// strftime_now of the engine asks `new Date()`; a question that names a time gets that time.
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0 && now !== null) super(now);
    else super(...parts);
  }
};

const compiled = new Map();

function compile(source) {
  let template = compiled.get(source);
  if (template === undefined) {
    template = new Template(source);
    if (compiled.size >= 500) compiled.clear();
    compiled.set(source, template);
  }
  return template;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let answer;
  try {
    const question = JSON.parse(line);
    now = question.now ?? null;
    answer = { text: compile(question.template).render(question.context) };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
