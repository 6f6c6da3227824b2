/** A phrase that a native writer would not use here, and what to write instead. */
export interface Pattern {
  name: string;
  /** Spaces in it also match a line break. */
  phrase: RegExp;
  instead: string;
  /** A sentence that it must find, and one that it must leave alone. */
  finds: string;
  leaves: string;
}

/** A clause ends here: the words before are used absolutely, which is what makes them odd. */
const END = String.raw`(?=[.,;:)!?¶]|\s*$)`;
/** A sentence, a cell or a list item begins here. */
const BEGIN = String.raw`(?:^|[.!?:;|¶]\s*(?:[-*|]\s*)?|\*\*)`;
const SEVERAL = String.raw`(?:all|both|several|many|most|more|two|three|ten|hundred|\d+|open|running|parallel|everything|number|calls|processes|servers|ones)`;

const pattern = (
  name: string,
  phrase: string,
  instead: string,
  finds: string,
  leaves: string,
  flags = 'giu',
): Pattern => ({
  name,
  phrase: new RegExp(phrase.replaceAll(' ', String.raw`\s+`), flags),
  instead,
  finds,
  leaves,
});

export const PATTERNS: readonly Pattern[] = [
  pattern(
    'is no X',
    String.raw`(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer|more\b|less\b|fewer|other|different|later|earlier|exception|use\b|match\b)[\p{L}◌"]+`,
    'is not a X, is not valid X',
    'The answer is no JSON.',
    'There is no file of that name, and it is no longer kept.',
  ),
  pattern(
    'passed over',
    String.raw`\bpass(?:ed|es|ing)? (?:it |them )?over\b`,
    'skipped',
    'The line was passed over.',
    'The value is passed on to the handler.',
  ),
  pattern(
    'lies',
    String.raw`\b(?:lies|lie|lay|lain)\b(?! out)`,
    'is, is kept, is stored',
    'The file lies beside the program.',
    'These files are laid out in folders.',
  ),
  pattern(
    'stands',
    String.raw`\b(?:stands|stand|stood)\b(?! (?:for|alone|by|out|still|in for)\b|-)`,
    'is, applies, remains',
    'A proxy stands before it.',
    'The asterisk stands for any part of a name.',
  ),
  pattern(
    'whoever',
    String.raw`\b(?:whoever|whomever|whosoever)\b`,
    'anyone who, the caller, the person who',
    'Whoever runs the server gives it.',
    'The person who runs the server provides it.',
  ),
  pattern(
    'who asks',
    String.raw`(?<!anyone |people |person |one )\bwho asks\b`,
    'the caller, the requester',
    'Context from who asks',
    'Anyone who asks gets the same answer.',
  ),
  pattern(
    'go on',
    String.raw`\b(?:go|goes|went|gone|going) on\b(?! (?:to|a|the|top) )`,
    'continue, resume, change',
    'The run goes on with step 3.',
    'The run continues with step 3.',
  ),
  pattern(
    'told',
    String.raw`\btold\b(?! (?:apart|from)\b)`,
    'reported, shown, informed; "asked" of a program',
    'It is told in the log.',
    'The two cannot be told apart.',
  ),
  pattern(
    'of its own',
    String.raw`(?<!\b(?:no|none)\b(?: [\p{L}◌-]+){0,2} )\bof (?:its|their|our|your|his|her) own\b`,
    'its own X, a separate X, or nothing',
    'It has a folder of its own.',
    'It has its own folder, and no logic of its own.',
  ),
  pattern(
    'from X on',
    String.raw`\bfrom (?!now |then )(?:[^\s.,;:!?()¶]+ ){1,4}on${END}`,
    'from X onwards, starting with X',
    'It is served from the next call on.',
    'Read it from a folder on disk, or from now on with a flag.',
  ),
  pattern(
    'is over',
    String.raw`\b(?:is|are|was|were|be|not) over(?:${END}| and| or| when)`,
    'has finished, has ended',
    'The run is over; nothing is added.',
    'The file is over the size limit.',
  ),
  pattern(
    'participle first',
    String.raw`${BEGIN}(?:Not |Never |Also |Only )?(?:Read|Found|Left|Made|Meant|Built|Sent|Put|Known|Shown|Taken|Given|Written|Kept|(?!\p{L}*eed )\p{Lu}\p{L}+ed)(?: (?:too|out|up|with it|by it))?,? (?:are|is|was|were) (?!not (?:a|an|the) )`,
    'subject first: "It reads ...", "X is read"',
    'Searched are the names and the texts.',
    'The names and texts are searched: completed is one status. Feed is one word.',
    'gu',
  ),
  pattern(
    'somebody',
    String.raw`\b(?:somebody|anybody|everybody|nobody)\b`,
    'someone, anyone, everyone, no one',
    'Somebody else has it.',
    'Someone else has it.',
  ),
  pattern(
    'at once',
    String.raw`(?<!\b${SEVERAL}\b[^.;¶]{0,40})\bat once\b`,
    'immediately, right away, now',
    'The server ends at once.',
    'At most 100 requests are open at once.',
  ),
  pattern('anew', String.raw`\banew\b`, 'again', 'It is made anew.', 'It is made again.'),
  pattern(
    'said so',
    String.raw`\b(?:said so|and (?:it )?says? so)\b`,
    'with a note, and the answer notes it',
    'It is cut, and said so.',
    'It is cut, and a note says how much.',
  ),
  pattern(
    'is said',
    String.raw`(?<!\b(?:that|what|which) )\b(?:is|are|was|were) said\b(?! to)`,
    'is reported, the answer notes',
    'What is missing is said in a note.',
    'What was said in the session is kept.',
  ),
  pattern(
    'what is there',
    String.raw`\b(?:what|that|which) (?:is|are|was) (?:already )?there\b`,
    'name it: the existing file, the current value',
    'Look at what is there.',
    'Look at the existing file.',
  ),
  pattern(
    'is there (is present)',
    String.raw`\b(?:is|are|was|were) (?:not |no longer |always |still )there(?: yet)?${END}`,
    'exists, does not exist, is missing',
    'The folder is no longer there.',
    'The folder is there to hold copies.',
  ),
  pattern(
    'what is',
    String.raw`\b(?:lists|shows?|tells?|all|say|says) (?:what|that|there) (?:is|are)${END}|\bwhat there (?:is|are)\b`,
    'name it: the available operations',
    'It lists what is.',
    'It lists what is available.',
  ),
  pattern(
    'by itself',
    String.raw`\bby (?:itself|themselves)\b`,
    'on its own, automatically, unasked',
    'It is removed by itself after a day.',
    'It is removed automatically after a day.',
  ),
  pattern(
    'Ctrl+C to leave',
    String.raw`\bCtrl\+C to leave\b|\bleave (?:it )?with Ctrl\+C`,
    'Ctrl+C to stop',
    'Press Ctrl+C to leave.',
    'Press Ctrl+C to stop.',
  ),
  pattern(
    'come again',
    String.raw`\bcome again\b`,
    'try again',
    'Come again when some are done.',
    'Try again when some are done.',
  ),
  pattern(
    'a look at',
    String.raw`\bwithout a look\b|\ba look at it\b`,
    'without review, without reading',
    'It is served without a look at it.',
    'It is served without review.',
  ),
  pattern(
    'but for',
    String.raw`\bbut for\b`,
    'except for, apart from',
    'The same but for the folder.',
    'The same, except for the folder.',
  ),
  pattern(
    'is waited for',
    String.raw`\b(?:is|are|was|were|be|not) (?:waited|looked|come) (?:for|across)\b`,
    'active voice: "the server waits for"',
    'A lock without a name is waited for.',
    'The server waits for a lock.',
  ),
  pattern(
    'is to be',
    String.raw`\b(?:is|are|was|were) to be\b`,
    'must be, should be, will be',
    'What it is to be about',
    'What it should be about',
  ),
  pattern(
    'as it is',
    String.raw`\b(?:left|stays?|remains?|kept|keeps?|served|shown|given|copied|delivered|written|returned) as (?:it is|they are|it was|they were|it stands)\b`,
    'unchanged, as is',
    'The file is left as it is.',
    'The file is left unchanged.',
  ),
  pattern(
    'nothing of',
    String.raw`\b(?:nothing|something|anything) of (?!the (?:sort|kind))`,
    'no part of, none of, no X',
    'Nothing of this project is kept.',
    'No part of this project is kept.',
  ),
  pattern(
    'thereof',
    String.raw`\b(?:thereof|therein|therefrom|thereupon|thereby|therewith|herewith|hereby|whereupon|whereof|wherein|whereby|hitherto|lest|whilst|amidst|henceforth)\b`,
    'plain words: "of it", "in it", "after which"',
    'The folder and the files therein',
    'The folder and the files in it',
  ),
  pattern(
    'which counts',
    String.raw`\b(?:which|and that|the file|the journal) counts\b`,
    'takes precedence, is used',
    'The folder has another name, which counts.',
    'It counts the lines.',
  ),
  pattern(
    'further X',
    String.raw`(?<!\bno )\bfurther \p{L}+s\b`,
    'more, additional, other',
    'Further folders with content',
    'Additional folders; it takes no further messages.',
  ),
  pattern(
    'that waits',
    String.raw`\b(?:what|content|commit|version|that) that waits?\b|\bwhat waits\b`,
    'pending',
    'Serve the content that waits.',
    'Serve the pending content.',
  ),
  pattern(
    'the one of',
    String.raw`\b(?:the one|the ones) of (?:a|an|the|your|this|all|another)\b`,
    "a possessive: your team's",
    'Compare it with the one of your team.',
    "Compare it with your team's.",
  ),
  pattern(
    'person of',
    String.raw`\b(?:person|people) of\b`,
    'someone on the project, a project member',
    'A person of the project has to agree.',
    'Someone on the project has to agree.',
  ),
  pattern(
    'is none of',
    String.raw`\b(?:is|are|was|were) none of\b`,
    'is not one of',
    'The status is none of these.',
    'None of these is a status.',
  ),
  pattern(
    'is here',
    String.raw`\b(?:it|they) (?:is|are) (?:not )?here${END}`,
    'is available, has been fetched',
    'It is served as soon as it is here.',
    'It is served as soon as it is available.',
  ),
  pattern(
    'from before',
    String.raw`\bfrom before\b`,
    'earlier, existing',
    'Those from before stay valid.',
    'Existing tokens stay valid.',
  ),
  pattern(
    'suffice',
    String.raw`\bsuffice[sd]?\b`,
    'is enough',
    'The tokens do not suffice.',
    'There are not enough tokens.',
  ),
  pattern(
    'other X than',
    String.raw`\b(?:an)?other \p{L}+ than\b`,
    'a different X from',
    'It has other content than the lock file says.',
    'Name a folder other than the home folder.',
  ),
  pattern(
    ', also where',
    String.raw`, also (?:for|where|when|if|with|without|while|after|before)\b`,
    'even where, including',
    'It is private, also where the folder is open.',
    'It is private even where the folder is open; it also works offline.',
  ),
];
