#!/bin/sh
# test: timeout=120 label=programs
# packages: git
# Git: a made-up history and, where there is one, this tree's own: clone, gc, log, blame, fsck.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need git git
export GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git config --global user.name Tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
git config --global safe.directory '*'
git config --global gc.auto 0
git config --global pack.threads 2

# 150 commits, each changing some of 40 files: a stream for git fast-import.
make_history() {
  awk 'BEGIN {
    print "blob\nmark :1\ndata 5\nstart"
    for (c = 1; c <= 150; c++) {
      when = 1600000000 + c * 3600
      printf "commit refs/heads/main\nmark :%d\n", 1000 + c
      printf "author Tester <tester@example.org> %d +0000\n", when
      printf "committer Tester <tester@example.org> %d +0000\n", when
      m = "Commit number " c
      printf "data %d\n%s\n", length(m), m
      if (c > 1) printf "from :%d\n", 999 + c
      for (f = c % 7; f < 40; f += 7) {
        text = ""
        for (l = 0; l < 60; l++) {
          what = l % 20 == c % 20 ? " changed in " c : " as it was"
          text = text "line " l " of file " f what "\n"
        }
        printf "M 644 inline dir%d/file%d.txt\ndata %d\n%s\n", f % 5, f, length(text), text
      }
    }
    print "done"
  }'
}
make_history >"$work/history"

work_git() {
  git init -q made
  git -C made fast-import --quiet --done <"$work/history"
  git -C made reset -q --hard
  git clone -q made copy 2>/dev/null
  cd copy
  git checkout -q -b side HEAD~20
  for f in dir*/file1*.txt; do
    sed 's/as it was/as it is on the side/;20q' "$f" >"new-${f##*/}"
  done
  git add .
  git commit -q -m 'On the side'
  git merge -q -m 'Merged' main
  git gc -q --aggressive --prune=now
  git fsck --full --strict 2>/dev/null
  git log --stat -p --graph
  git blame -w dir0/file10.txt
  git shortlog -s -n HEAD
  git rev-parse HEAD 'HEAD^{tree}'
  git diff HEAD~30 --word-diff | cksum
  git grep -n -i 'changed in 1[0-9]0' | sort | cksum
  git archive --format=tar HEAD | cksum
  git status --short
}

work_git_own() {
  git clone -q --bare --no-hardlinks "$root" own 2>/dev/null
  git -C own gc -q --prune=now
  git -C own fsck --full 2>/dev/null
  git -C own log -p --stat --all -n 200 | cksum
  git -C own rev-list --all --objects | sort | cksum
}

is_preloaded git --version
both work_git
if git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1; then both work_git_own; fi
