/** Words that may follow a command. */
export interface CompletionPlace {
  /** The words before, such as `stack init`; empty for the program itself. */
  path: string;
  commands: CompletionWord[];
  options: CompletionWord[];
  /** Values that its argument may have. */
  values: string[];
}

export interface CompletionWord {
  text: string;
  description: string;
}

/** Options whose value is the name of a stack, a file or a folder. */
export interface Values {
  stacks: string[];
  files: string[];
  /** Options with a fixed list of values, by the option. */
  choices: Map<string, string[]>;
  /** Those with any other value. */
  others: string[];
}
