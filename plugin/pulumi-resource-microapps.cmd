@echo off
rem Starts the plugin on Windows; see pulumi-resource-microapps.
node "%~dp0start.js" %*
