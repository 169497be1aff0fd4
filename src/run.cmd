@echo off
rem What Windows runs where a client names `run`: finds a Python for LTM and runs `ltm` on it.
rem Hooks and commands come through run.sh, in the shell that git brings along.
setlocal
set "python="
for %%p in (py.exe python.exe python3.exe) do if not defined python if not "%%~$PATH:p"=="" call :look "%%~$PATH:p"
if not defined python goto uv
"%python%" -I -S "%~dp0ltm\cli\launch.py" %*
exit /b %errorlevel%

:look
"%~1" -I -S -c "import sys; sys.exit(sys.version_info < (3, 11))" <nul >nul 2>nul
if not errorlevel 1 set "python=%~1"
exit /b 0

:uv
set "uv="
for %%p in (uv.exe) do set "uv=%%~$PATH:p"
if not defined uv goto none
"%uv%" run --quiet --no-project --python ">=3.11" python -I -S "%~dp0ltm\cli\launch.py" %*
exit /b %errorlevel%

:none
echo LTM needs Python 3.11 or newer: install it from python.org, then start a new session 1>&2
exit /b 1
