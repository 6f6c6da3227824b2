/** Where the kit keeps the script that says whether work is done, below the folder of BMAD. */
export const CONTRACT_SCRIPT = '_config/custom/cc-verify.sh';
